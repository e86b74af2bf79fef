import { describe, expect, it } from '@jest/globals';
import { check } from '../../test/support/checker.js';
import { GRID_PERIOD_MS } from '../../test/faults/replica/order.js';
import { grant, historyFrom, type Line, record } from '../../test/support/made-up-record.js';
import { judge } from './episode.js';
import { type Fault } from './fault.js';
import { vacancies } from './leadership.js';
import { GRACEFUL, LOCK_EXPIRY_MS } from './settings.js';

/** Both believe that they lead, which is for others to judge. */
function rulesBrokenBy(...lines: readonly Line[]): string[] {
  const terms: Line[] = [{ event: 'gained' }, { event: 'gained', replica: 'b1' }];
  const found = check(historyFrom(record(...terms, ...lines), [grant(0), grant(0, 'b1')]));
  return found.map(({ rule }) => rule).filter((rule) => rule !== 'belief-beyond-lock');
}

describe('The record of the witness', () => {
  it('shows two runs at once, in the order in which they were told', () => {
    expect(rulesBrokenBy({ event: 'runBegan' }, { event: 'runBegan', replica: 'b1' })).toEqual(['overlap']);
    const one = [{ event: 'runBegan' }, { event: 'runEnded' }] as const;
    expect(rulesBrokenBy(...one, { event: 'runBegan', replica: 'b1' })).toEqual([]);
  });

  it('counts what a replica says from when it says it, however late that is heard', () => {
    const ended = { event: 'runEnded', monoMs: 100, atMs: 500 } as const;
    expect(rulesBrokenBy({ event: 'runBegan' }, { event: 'runBegan', replica: 'b1', atMs: 300 }, ended)).toEqual([]);
  });

  it('ends a run with its process', () => {
    const other = { event: 'runBegan', replica: 'b1' } as const;
    expect(rulesBrokenBy({ event: 'runBegan' }, { event: 'exited' }, other)).toEqual([]);
  });

  it('ends a run with the kill of its process, or with its last words, though the end is heard of late', () => {
    const began = { event: 'runBegan' } as const;
    const killed = { event: 'killed', atMs: 100, monoMs: undefined } as const;
    const lastWords = { event: 'abortSeen', atMs: 400, monoMs: 110 } as const;
    const end = { event: 'exited', atMs: 500, monoMs: undefined } as const;
    const other = (atMs: number): Line => ({ event: 'runBegan', replica: 'b1', atMs });
    expect(rulesBrokenBy(began, killed, lastWords, other(105), end)).toEqual(['overlap']);
    expect(rulesBrokenBy(began, killed, lastWords, other(115), end)).toEqual([]);
  });

  it('excuses a run whose process says that its machine let it stand still, and none that had ended before', () => {
    const began = { event: 'runBegan', atMs: 100 } as const;
    const other = { event: 'runBegan', replica: 'b1', atMs: 1_500 } as const;
    const ended = { event: 'runEnded', atMs: 1_550 } as const;
    const blocked = (blockedMs: number): Line => ({ event: 'loopBlocked', atMs: 1_600, blockedMs });
    expect(rulesBrokenBy(began, other, ended)).toEqual(['overlap']);
    expect(rulesBrokenBy(began, other, ended, blocked(1_400))).toEqual([]);
    expect(rulesBrokenBy(began, other, ended, blocked(40))).toEqual(['overlap']);
    const early = { ...other, atMs: 120 } as const;
    expect(rulesBrokenBy(began, early, { ...ended, atMs: 150 }, blocked(1_400))).toEqual(['overlap']);
  });

  it.each([
    ['stopped', 'resumed'],
    ['blocked', 'unblocked'],
  ] as const)('excuses a run whose process stood still, and none that begins after: %s', (still, goesOn) => {
    const other = { event: 'runBegan', replica: 'b1' } as const;
    expect(rulesBrokenBy({ event: 'runBegan' }, { event: still }, other)).toEqual([]);
    expect(rulesBrokenBy({ event: still }, { event: goesOn }, { event: 'runBegan' }, other)).toEqual(['overlap']);
  });

  it('shows a run that began after the end of the lock that its replica’s wire shows', () => {
    expect(rulesBrokenBy({ event: 'runBegan', atMs: LOCK_EXPIRY_MS })).toEqual([]);
    expect(rulesBrokenBy({ event: 'runBegan', atMs: LOCK_EXPIRY_MS + 1 })).toEqual(['start-without-lock']);
  });

  it('shows a slot of a grid that was neither started nor dropped, unless the clock was stepped', () => {
    const slot = (index: number): Line => ({ event: 'runBegan', run: index, scheduledAt: index * GRID_PERIOD_MS });
    const ended = (index: number): Line => ({ event: 'runEnded', run: index });
    const dropped: Line = { event: 'dropped', kind: 'fixed-rate', scheduledAt: 3 * GRID_PERIOD_MS, count: 2 };
    expect(rulesBrokenBy(slot(1), ended(1), slot(4))).toEqual(['tick-unaccounted']);
    expect(rulesBrokenBy(slot(1), ended(1), dropped, slot(4))).toEqual([]);
    expect(rulesBrokenBy(slot(1), ended(1), { event: 'stepped' }, slot(4))).toEqual([]);
  });

  it('shows an occurrence that was neither started nor reported', () => {
    const cron = { job: 'cron', event: 'runBegan' } as const;
    const runs = [cron, { ...cron, run: 2, scheduledAt: 3_000 }] as const;
    const found = (...lines: readonly Line[]) =>
      check(historyFrom(record(...lines))).filter(({ rule }) => rule === 'lost-in-silence');
    expect(found(...runs)).toHaveLength(2);
    expect(found(...runs, { job: 'cron', event: 'missed', from: 0, to: 1_000 })).toHaveLength(1);
    expect(found(...runs, { job: 'cron', event: 'dropped', scheduledAt: 2_000, count: 2 })).toEqual([]);
  });
});

describe('The time without a leader', () => {
  const gained = { event: 'gained' } as const;

  it.each(['lost', 'released', 'killed', 'exited', 'stopped', 'blocked'] as const)('begins with: %s', (event) => {
    const lines = record(gained, { event, atMs: 100 }, { ...gained, replica: 'b1', atMs: 350 });
    expect(vacancies(lines)).toEqual([{ job: 'grid', fromMs: 100, toMs: 350 }]);
  });

  it('does not end because one that stood still goes on: it has to run something', () => {
    const stopped = [gained, { event: 'stopped', atMs: 100 }, { event: 'resumed', atMs: 200 }] as const;
    expect(vacancies(record(...stopped))).toEqual([{ job: 'grid', fromMs: 100, toMs: Infinity }]);
    expect(vacancies(record(...stopped, { event: 'runBegan', atMs: 300 }))).toMatchObject([{ toMs: 300 }]);
  });

  it('counts from the end of an outage, and with it the time without a run', () => {
    const run = { event: 'runBegan' } as const;
    const lines = record(gained, run, { event: 'lost', atMs: 100 }, { ...gained, atMs: 900 }, { ...run, atMs: 1_400 });
    const fault: Fault = { name: 'outage', bound: GRACEFUL, strike: () => Promise.resolve() };
    const episode = { faults: [fault], fromMs: 50, sinceMs: 600, calmMs: 1_500, epochMs: 0 };
    const { leaderlessMs, idleMs } = judge(episode, lines, historyFrom(lines));
    expect({ leaderlessMs, idleMs }).toEqual({ leaderlessMs: 300, idleMs: 800 - GRID_PERIOD_MS });
  });
});
