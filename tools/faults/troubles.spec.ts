import { describe, expect, it } from '@jest/globals';
import { check } from '../../test/support/checker.js';
import { exchange, grant, historyFrom, type Line, record } from '../../test/support/made-up-record.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS, SAFETY_MARGIN_MS, TOLERANCE_MS } from './settings.js';
import { type Exchange } from './wires.js';

const LOST_MS = 100;
const ATTEMPT_MS = LOCK_EXPIRY_MS / 5;
/** A leader that nothing hinders has heard of a loss by then, and its run has had the margin to settle in. */
const KNOWN_MS = LOST_MS + HEARTBEAT_INTERVAL_MS + ATTEMPT_MS + SAFETY_MARGIN_MS + TOLERANCE_MS;
/** One that is hindered trusts its lease to the end. */
const TRUSTED_MS = LOST_MS + LOCK_EXPIRY_MS + TOLERANCE_MS;

/** The first leader's run goes on when the second one, granted the lock right before, begins its own. */
function overlapsAt(atMs: number, lines: readonly Line[], exchanges: readonly Exchange[] = []): boolean {
  const lead = (replica: string, sinceMs: number): Line[] => [
    { event: 'spawned', replica, atMs: 0 },
    { event: 'gained', replica, atMs: sinceMs },
    { event: 'runBegan', replica, atMs: sinceMs + 1 },
  ];
  const lived = record(...lead('a1', 0), ...lines, ...lead('b1', atMs - 1));
  const history = historyFrom(lived, [grant(0), ...exchanges, grant(atMs - 1, 'b1')]);
  return check(history).some(({ rule }) => rule === 'overlap');
}

const forgot = (kind: string): Line => ({ event: 'forgot', replica: '', atMs: LOST_MS, kind });

describe('Two leaders', () => {
  it('are a broken promise where nothing was lost, or before it was, or where the lock of another job was', () => {
    expect(overlapsAt(KNOWN_MS, [])).toBe(true);
    expect(overlapsAt(LOST_MS - 1, [forgot('lock-deleted')])).toBe(true);
    expect(overlapsAt(KNOWN_MS, [{ ...forgot('lock-deleted'), job: 'cron' }])).toBe(true);
  });

  it.each(['lock-deleted', 'fall-back'])('are excused until the old one has learnt of the loss: %s', (kind) => {
    expect(overlapsAt(KNOWN_MS, [forgot(kind)])).toBe(false);
    expect(overlapsAt(KNOWN_MS + 1, [forgot(kind)])).toBe(true);
  });

  it('are excused until the lease of the old one ends where something hinders it, and nobody else', () => {
    const hindered = (replica = ''): Line[] => [
      { event: 'hindered', replica, atMs: 50 },
      forgot('fall-back'),
      { event: 'unhindered', replica, atMs: 3_000 },
    ];
    expect(overlapsAt(TRUSTED_MS, hindered('a1'))).toBe(false);
    expect(overlapsAt(TRUSTED_MS, hindered())).toBe(false);
    expect(overlapsAt(TRUSTED_MS + 1, hindered('a1'))).toBe(true);
    expect(overlapsAt(TRUSTED_MS, hindered('b1'))).toBe(true);
  });

  it('are excused after a loss of all data only where the new one had never heard of the job', () => {
    const words = ['0', 'a1-1f#1', '2000', '1', '0', '0', '7', '50', '0', ''];
    const refused = exchange('acquire', 50, { process: 'b1', words });
    expect(overlapsAt(KNOWN_MS, [forgot('data-loss')])).toBe(false);
    expect(overlapsAt(KNOWN_MS, [forgot('data-loss')], [refused])).toBe(true);
  });

  it('are excused for longer where the witness heard of things late: so did Redis', () => {
    const late: Line = { event: 'ready', replica: 'b1', monoMs: 20, atMs: 60 };
    expect(overlapsAt(KNOWN_MS + 40, [late, forgot('lock-deleted')])).toBe(false);
    expect(overlapsAt(KNOWN_MS + 41, [late, forgot('lock-deleted')])).toBe(true);
  });
});
