import { describe, expect, it } from '@jest/globals';
import { check } from '../../test/support/checker.js';
import { exchange, grant, historyFrom, type Line, record } from '../../test/support/made-up-record.js';
import { holdingsIn } from './holdings.js';
import { LOCK_EXPIRY_MS, SAFETY_MARGIN_MS, TOLERANCE_MS } from './settings.js';
import { type Exchange } from './wires.js';

const LIFE_MS = LOCK_EXPIRY_MS - SAFETY_MARGIN_MS;

function rulesBrokenBy(exchanges: Exchange[], ...lines: readonly Line[]): string[] {
  return check(historyFrom(record(...lines), exchanges)).map(({ rule }) => rule);
}

/** From when until when each holder held, as far as anybody can say. */
function spansIn(...exchanges: Exchange[]): unknown[] {
  const lost = { kind: 'lock-deleted', job: 'grid', fromMs: 700, untilMs: 700 };
  return holdingsIn(exchanges, [lost]).map(({ process, fromMs, untilMs }) => [process, fromMs, untilMs]);
}

describe('A lock, by the answers of Redis,', () => {
  it('is held from its grant until its last yes has lived its life, whether or not anybody came to read it', () => {
    expect(spansIn(grant(1_000))).toEqual([['a1', 1_000, 1_000 + LOCK_EXPIRY_MS]]);
    const renewed = exchange('renew', 1_500, { answeredMs: 1_600 });
    expect(spansIn(grant(1_000), renewed)).toEqual([['a1', 1_000, 1_600 + LOCK_EXPIRY_MS]]);
  });

  it.each<readonly [string, Exchange[]]>([
    ['a release', [exchange('release', 1_200)]],
    ['a no', [exchange('renew', 1_200, { words: ['0'] })]],
    ['a grant to another', [grant(1_200, 'b1')]],
  ])('is not held any more after %s', (_, exchanges) => {
    expect(spansIn(grant(1_000), ...exchanges)[0]).toEqual(['a1', 1_000, 1_200]);
  });

  it('is lost by a loss, whatever was confirmed before it and told after it', () => {
    expect(spansIn(grant(600), exchange('renew', 690, { answeredMs: 710 }))).toEqual([['a1', 600, 700]]);
    expect(spansIn(grant(600), exchange('renew', 701))).toEqual([['a1', 600, 701 + LOCK_EXPIRY_MS]]);
  });

  it('gives each holder a larger token than all before it', () => {
    const small = { words: ['1', '1'] };
    expect(rulesBrokenBy([grant(0), grant(3_000, 'b1')])).toEqual([]);
    expect(rulesBrokenBy([grant(0, 'b1'), grant(3_000, 'a1')])).toEqual(['token-not-grown']);
    expect(rulesBrokenBy([grant(0), grant(3_000, 'b1', small)])).toEqual(['token-not-grown']);
    // a bid that is repeated is granted the same term again
    expect(rulesBrokenBy([grant(0), grant(500)])).toEqual([]);
  });

  it('is judged by its tokens where two bids were under way at once, and nobody knows which was granted first', () => {
    expect(rulesBrokenBy([grant(0, 'b1'), grant(3_000, 'a1', { sentMs: -1 })])).toEqual([]);
    expect(spansIn(grant(1_000, 'b1'), grant(1_010, 'a1', { sentMs: 990 }))).toEqual([
      ['a1', 1_010, 1_010],
      ['b1', 1_000, 1_000 + LOCK_EXPIRY_MS],
    ]);
  });
});

describe('Who believes that it leads', () => {
  const believed = (untilMs: number, token = 1): Line[] => [
    { event: 'gained', atMs: 0, token },
    { event: 'lost', atMs: untilMs, token },
  ];

  it('was granted the lock, by this token', () => {
    expect(rulesBrokenBy([grant(0)], ...believed(LIFE_MS))).toEqual([]);
    expect(rulesBrokenBy([grant(0)], ...believed(LIFE_MS, 7))).toEqual(['belief-beyond-lock']);
    expect(rulesBrokenBy([], ...believed(LIFE_MS))).toEqual(['belief-beyond-lock']);
  });

  it.each<readonly [string, Exchange]>([
    ['was told that it is not', exchange('renew', 500, { words: ['0'] })],
    ['another was granted it', grant(500, 'b1')],
  ])('does so no longer soon after %s', (_, end) => {
    expect(rulesBrokenBy([grant(0), end], ...believed(500 + TOLERANCE_MS))).toEqual([]);
    expect(rulesBrokenBy([grant(0), end], ...believed(501 + TOLERANCE_MS))).toEqual(['belief-beyond-lock']);
  });

  it('believes nothing from when it asks to give the lock back, though the answer is lost', () => {
    const unanswered = exchange('release', 400, { answeredMs: undefined, readMs: undefined, words: undefined });
    expect(rulesBrokenBy([grant(0), unanswered, grant(500, 'b1')], ...believed(LIFE_MS))).toEqual([]);
  });

  it('may believe for as long as it cannot know of a loss', () => {
    const forgot: Line = { event: 'forgot', replica: '', kind: 'lock-deleted', atMs: 100 };
    const exchanges = [grant(0), grant(200, 'b1')];
    expect(rulesBrokenBy(exchanges, forgot, ...believed(1_500))).toEqual([]);
    expect(rulesBrokenBy(exchanges, ...believed(1_500))).toEqual(['belief-beyond-lock']);
  });
});

describe('A holder that gave its lock back', () => {
  it('is not confirmed again but by a bid', () => {
    const released = [grant(0), exchange('release', 100)];
    expect(rulesBrokenBy([...released, exchange('renew', 200)])).toEqual(['resurrected']);
    expect(rulesBrokenBy([...released, grant(150), exchange('renew', 200)])).toEqual([]);
    expect(rulesBrokenBy([...released, exchange('renew', 200, { words: ['0'] })])).toEqual([]);
  });

  it('is not judged by what was under way when it did', () => {
    const released = [grant(0), exchange('release', 100, { answeredMs: 150 })];
    expect(rulesBrokenBy([...released, exchange('renew', 120, { answeredMs: 160 })])).toEqual([]);
  });
});
