import { describe, expect, it } from '@jest/globals';
import { check } from '../../test/support/checker.js';
import { exchange, grant, historyFrom, type Line, record } from '../../test/support/made-up-record.js';
import { LOCK_EXPIRY_MS, SAFETY_MARGIN_MS, TOLERANCE_MS } from './settings.js';
import { type Exchange } from './wires.js';

const LIFE_MS = LOCK_EXPIRY_MS - SAFETY_MARGIN_MS;
/** By when a lease that was confirmed at 0 is over on the busiest of machines. */
const OVER_MS = LIFE_MS + TOLERANCE_MS;

function rulesBrokenBy(exchanges: Exchange[], ...lines: readonly Line[]): string[] {
  return check(historyFrom(record({ event: 'gained', atMs: 0 }, ...lines), exchanges)).map(({ rule }) => rule);
}

describe('A lease, as the wire of its replica shows it,', () => {
  const startAt = (atMs: number): Line[] => [{ event: 'runBegan', atMs }];

  it('lets runs start until its lock ends, counted from the last request that was confirmed', () => {
    expect(rulesBrokenBy([grant(0)], ...startAt(LOCK_EXPIRY_MS))).toEqual([]);
    expect(rulesBrokenBy([grant(0)], ...startAt(LOCK_EXPIRY_MS + 1))).toEqual(['start-without-lock']);
    expect(rulesBrokenBy([grant(0)], ...startAt(OVER_MS + 1))).toEqual(['start-without-lock', 'start-after-deadline']);
    expect(rulesBrokenBy([grant(0), exchange('renew', 500)], ...startAt(LOCK_EXPIRY_MS + 500))).toEqual([]);
    const slow = exchange('renew', 500, { answeredMs: 900, readMs: 900 });
    expect(rulesBrokenBy([grant(0), slow], ...startAt(LOCK_EXPIRY_MS + 501))).toEqual(['start-without-lock']);
  });

  it('lives on by an answer that was passed on: not before it was, and not if it was lost or told a no', () => {
    const lost = exchange('renew', 500, { readMs: undefined });
    expect(rulesBrokenBy([grant(0), lost], ...startAt(LOCK_EXPIRY_MS + 1))).toEqual(['start-without-lock']);
    const held = exchange('renew', 500, { readMs: LOCK_EXPIRY_MS + 100 });
    expect(rulesBrokenBy([grant(0), held], ...startAt(LOCK_EXPIRY_MS + 1))).toEqual(['start-without-lock']);
    expect(rulesBrokenBy([grant(0), held], ...startAt(LOCK_EXPIRY_MS + 100))).toEqual([]);
    const refused = exchange('renew', 500, { words: ['0'] });
    expect(rulesBrokenBy([grant(0), refused], ...startAt(LOCK_EXPIRY_MS + 1))).toContain('start-without-lock');
  });

  it('does not live on by what was confirmed for another term', () => {
    const [ofAnother, again] = [{ holder: 'a1-1f#2' }, { holder: 'a1-1f#2', words: ['1', '3'] }];
    const exchanges = [grant(0), grant(500, 'a1', again), exchange('renew', 600, ofAnother)];
    expect(rulesBrokenBy(exchanges, ...startAt(LOCK_EXPIRY_MS + 1))).toContain('start-without-lock');
  });

  it('aborts its run when it ends, or soon after on a busy machine', () => {
    const run = (...lines: readonly Line[]): Line[] => [{ event: 'runBegan', atMs: 1_000 }, ...lines];
    const ended: Line = { event: 'runEnded', atMs: 4_000 };
    expect(rulesBrokenBy([grant(0)], ...run({ event: 'abortSeen', atMs: OVER_MS }, ended))).toEqual([]);
    expect(rulesBrokenBy([grant(0)], ...run({ event: 'runEnded', atMs: OVER_MS }))).toEqual([]);
    const late = run({ event: 'abortSeen', atMs: OVER_MS + 1 }, ended);
    expect(rulesBrokenBy([grant(0)], ...late)).toEqual(['aborted-too-late']);
    expect(rulesBrokenBy([grant(0)], ...run(ended))).toEqual(['aborted-too-late']);
    expect(rulesBrokenBy([grant(0), exchange('renew', 500)], ...late)).toEqual([]);
  });

  it.each<readonly [string, Line[]]>([
    [
      'because the test stopped it',
      [
        { event: 'stopped', atMs: 1_200 },
        { event: 'resumed', atMs: 3_500 },
      ],
    ],
    ['by what it says itself', [{ event: 'loopBlocked', atMs: 3_500, blockedMs: 700 }]],
  ])('is not judged by the signal of a run whose process stood still: %s', (_, still) => {
    const run: Line[] = [{ event: 'runBegan', atMs: 1_000 }, ...still, { event: 'runEnded', atMs: 4_000 }];
    expect(rulesBrokenBy([grant(0)], ...run)).toEqual([]);
  });
});
