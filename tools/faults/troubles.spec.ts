import { describe, expect, it } from '@jest/globals';
import { check } from '../../test/support/checker.js';
import { historyOf } from './history.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS, SAFETY_MARGIN_MS, TOLERANCE_MS } from './settings.js';
import { type Testimony } from './testimony.js';
import { type Exchange } from './wires.js';

const LOST_MS = 100;
const ATTEMPT_MS = LOCK_EXPIRY_MS / 5;
/** A leader that nothing hinders has heard of a loss by then, and its run has had the margin to settle in. */
const KNOWN_MS = LOST_MS + HEARTBEAT_INTERVAL_MS + ATTEMPT_MS + SAFETY_MARGIN_MS + TOLERANCE_MS;
/** One that is hindered trusts its lease to the end. */
const TRUSTED_MS = LOST_MS + LOCK_EXPIRY_MS + TOLERANCE_MS;

type Line = Omit<Testimony, 'replica'> & Partial<Pick<Testimony, 'replica'>>;

/** The first leader's run goes on when the second one, granted the lock right before, begins its own. */
function rulesBrokenAt(atMs: number, lines: readonly Line[], exchanges: readonly Exchange[] = []): string[] {
  const lead = (replica: string, token: number, sinceMs: number): Testimony[] => [
    { event: 'spawned', replica, atMs: 0 },
    { event: 'gained', replica, job: 'grid', token, atMs: sinceMs },
    { event: 'runBegan', replica, job: 'grid', token, atMs: sinceMs + 1 },
  ];
  const told = lines.map((line) => ({ replica: '', ...line }));
  const record = [...lead('a1', 1, 0), ...told, ...lead('b1', 2, atMs - 1)];
  const history = historyOf(
    { record, epochMs: 0 },
    { exchanges: [bid('a1', 0, '1', '1'), ...exchanges, bid('b1', atMs - 1, '1', '2')] },
  );
  return check(history).map(({ rule }) => rule);
}

function bid(process: string, atMs: number, ...words: readonly string[]): Exchange {
  const about = { command: 'acquire', job: 'grid', process, holder: `${process}-1f#1` } as const;
  return { ...about, sentMs: atMs, answeredMs: atMs, readMs: atMs, words };
}

const forgot = (kind: string): Line => ({ event: 'forgot', atMs: LOST_MS, kind, job: 'grid' });

describe('Two leaders', () => {
  it('are a broken promise where nothing was lost, or before it was, or where the lock of another job was', () => {
    expect(rulesBrokenAt(KNOWN_MS, [])).toEqual(['overlap']);
    expect(rulesBrokenAt(LOST_MS - 1, [forgot('lock-deleted')])).toEqual(['overlap']);
    expect(rulesBrokenAt(KNOWN_MS, [{ ...forgot('lock-deleted'), job: 'cron' }])).toEqual(['overlap']);
  });

  it.each(['lock-deleted', 'fall-back'])('are excused until the old one has learnt of the loss: %s', (kind) => {
    expect(rulesBrokenAt(KNOWN_MS, [forgot(kind)])).toEqual([]);
    expect(rulesBrokenAt(KNOWN_MS + 1, [forgot(kind)])).toEqual(['overlap']);
  });

  it('are excused until the lease of the old one ends where something hinders it, and nobody else', () => {
    const hindered = (replica?: string): Line[] => [
      { event: 'hindered', atMs: 50, ...(replica && { replica }) },
      forgot('fall-back'),
      { event: 'unhindered', atMs: 3_000, ...(replica && { replica }) },
    ];
    expect(rulesBrokenAt(TRUSTED_MS, hindered('a1'))).toEqual([]);
    expect(rulesBrokenAt(TRUSTED_MS, hindered())).toEqual([]);
    expect(rulesBrokenAt(TRUSTED_MS + 1, hindered('a1'))).toEqual(['overlap']);
    expect(rulesBrokenAt(TRUSTED_MS, hindered('b1'))).toEqual(['overlap']);
  });

  it('are excused after a loss of all data only where the new one had never heard of the job', () => {
    const refused = bid('b1', 50, '0', 'a1-1f#1', '2000', '1', '0', '0', '7', '50', '0', '');
    expect(rulesBrokenAt(KNOWN_MS, [forgot('data-loss')])).toEqual([]);
    expect(rulesBrokenAt(KNOWN_MS, [forgot('data-loss')], [refused])).toEqual(['overlap']);
  });

  it('are excused for longer where the witness heard of things late: so did Redis', () => {
    const late: Line = { event: 'ready', replica: 'b1', monoMs: 20, atMs: 60 };
    expect(rulesBrokenAt(KNOWN_MS + 40, [late, forgot('lock-deleted')])).toEqual([]);
    expect(rulesBrokenAt(KNOWN_MS + 41, [late, forgot('lock-deleted')])).toEqual(['overlap']);
  });
});
