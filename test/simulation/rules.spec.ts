import { describe, expect, it } from '@jest/globals';
import { type CronJob, type History, type Report, type Rule, type Run, type Window } from './history.js';
import { check } from './rules.js';

const run = (overrides: Partial<Run> = {}): Run => ({
  job: 'report',
  kind: 'cron',
  process: 'a',
  scheduledAt: 0,
  startedMs: 0,
  endedMs: 10,
  settleMs: 3,
  leaseLeftMs: 500,
  heldLock: true,
  ...overrides,
});
const later = (overrides: Partial<Run> = {}): Run =>
  run({ process: 'b', scheduledAt: 1_000, startedMs: 10, endedMs: 20, ...overrides });
const window = (rule: Rule, overrides: Partial<Window> = {}): Window => ({
  rules: [rule],
  fromMs: 0,
  untilMs: 100,
  ...overrides,
});
const broken = (runs: readonly Run[], windows: readonly Window[] = []): Rule[] => brokenIn({ runs, windows });
const brokenIn = (history: Partial<History>): Rule[] =>
  check({
    runs: [],
    doubleLeads: [],
    vacancies: [],
    grants: [],
    leaderships: [],
    stayMs: 100,
    windows: [],
    intervals: new Map(),
    crons: new Map(),
    ...history,
  }).map(({ rule }) => rule);

describe('No run starts under an ended lease', () => {
  it('is kept by runs that follow one another, each under a lease of its own', () => {
    expect(broken([run(), later()])).toEqual([]);
    expect(broken([run({ leaseLeftMs: 0 })])).toEqual([]);
  });

  it('is broken by a start past the deadline of the replica', () => {
    expect(broken([run({ leaseLeftMs: -1 })], [window('ended-lease')])).toEqual(['ended-lease']);
  });

  it('is broken by a start without the lock, except after a fault that took the lock', () => {
    const start = run({ heldLock: false });
    expect(broken([start])).toEqual(['ended-lease']);
    expect(broken([start], [window('ended-lease')])).toEqual([]);
    expect(broken([start], [window('ended-lease', { job: 'other' })])).toEqual(['ended-lease']);
    expect(broken([start], [window('ended-lease', { fromMs: 1 })])).toEqual(['ended-lease']);
  });
});

describe('No two replicas lead a job at the same time', () => {
  const doubleLead = { job: 'report', processes: ['a', 'b'], atMs: 5 } as const;

  it('is broken by a moment at which two could start a run', () => {
    expect(brokenIn({ doubleLeads: [doubleLead] })).toEqual(['two-leaders']);
  });

  it('has an exception during a fault, only for its job and its process', () => {
    const within = (overrides: Partial<Window>): Rule[] =>
      brokenIn({ doubleLeads: [doubleLead], windows: [window('two-leaders', overrides)] });
    expect(within({ job: 'report', process: 'b' })).toEqual([]);
    expect(within({ job: 'other' })).toEqual(['two-leaders']);
    expect(within({ process: 'c' })).toEqual(['two-leaders']);
    expect(within({ untilMs: 4 })).toEqual(['two-leaders']);
  });
});

describe('No two runs of a job go on at the same time', () => {
  it('is kept by runs of two jobs, and by one that settles in time after its signal', () => {
    expect(broken([run(), later({ job: 'other', startedMs: 5 })])).toEqual([]);
    expect(broken([run({ endedMs: 90, abortedMs: 7 }), later()])).toEqual([]);
  });

  it('is broken by a run that starts before another has ended', () => {
    expect(broken([later({ startedMs: 9 }), run()])).toEqual(['two-runs']);
    expect(broken([run({ endedMs: 90, abortedMs: 8 }), later()])).toEqual(['two-runs']);
    const endless = { job: 'report', kind: 'cron' as const, process: 'a', scheduledAt: 0, startedMs: 0, settleMs: 3 };
    expect(broken([endless, later()])).toEqual(['two-runs']);
  });

  it('has an exception during a fault, only for its process', () => {
    const runs = [run(), later({ startedMs: 5 })];
    expect(broken(runs, [window('two-runs', { process: 'a' })])).toEqual([]);
    expect(broken(runs, [window('two-runs', { process: 'c' })])).toEqual(['two-runs']);
    expect(broken(runs, [window('two-runs', { untilMs: 9 })])).toEqual(['two-runs']);
  });

  it('has an exception for earlier runs of a halted process', () => {
    const runs = [run({ startedMs: 1 }), later({ startedMs: 5 })];
    expect(broken(runs, [window('two-runs', { process: 'a', startedByMs: 1 })])).toEqual([]);
    expect(broken(runs, [window('two-runs', { process: 'a', startedByMs: 0 })])).toEqual(['two-runs']);
  });
});

describe('No occurrence starts twice', () => {
  it('is kept by one start for each occurrence, and by slots, which are no occurrences', () => {
    expect(broken([run(), later()])).toEqual([]);
    expect(broken([run({ kind: 'fixed-rate' }), later({ kind: 'fixed-rate', scheduledAt: 0 })])).toEqual([]);
  });

  it('is broken by a second start', () => {
    expect(broken([run(), later({ scheduledAt: 0 })])).toEqual(['started-twice']);
  });

  it('has an exception where the claim was lost, but not for a process that started it before', () => {
    const windows = [window('started-twice')];
    expect(broken([run(), later({ scheduledAt: 0 })], windows)).toEqual([]);
    expect(broken([run(), later({ scheduledAt: 0, process: 'a' })], windows)).toEqual(['started-twice']);
  });

  it('has an exception for recent claims if only the last writes were lost', () => {
    const twice = [run({ startedMs: 2 }), later({ scheduledAt: 0 })];
    const lost = (fromMs: number): Window[] => [window('started-twice', { firstStarted: { fromMs, untilMs: 9 } })];
    expect(broken(twice, lost(1))).toEqual([]);
    expect(broken(twice, lost(3))).toEqual(['started-twice']);
  });
});

describe('Each occurrence is started or reported', () => {
  const report = (after: number, upTo: number, atMs = upTo): Report => ({ after, upTo, atMs });
  const brokenBy = (starts: readonly number[], cron: Partial<CronJob> = {}): Rule[] => {
    const runs = starts.map((at) => run({ scheduledAt: at, startedMs: at, endedMs: at + 10 }));
    const firstGrant = report(1_500, 1_500);
    return brokenIn({
      runs,
      crons: new Map([['report', { everyMs: 1_000, firstGrant, reports: [], lossesMs: [1_500], ...cron }]]),
    });
  };

  it('is kept from the first grant on, up to the newest that is settled', () => {
    expect(brokenBy([])).toEqual([]);
    expect(brokenBy([2_000, 3_000])).toEqual([]);
    expect(brokenBy([2_000, 5_000], { reports: [report(2_000, 4_000)] })).toEqual([]);
    expect(brokenBy([2_000, 4_000], { reports: [report(2_500, 3_000), report(2_000, 3_000)] })).toEqual([]);
  });

  it('is broken by a gap between two that are settled', () => {
    expect(brokenBy([3_000])).toEqual(['occurrence-lost']);
    expect(brokenBy([2_000, 5_000], { reports: [report(3_000, 4_000)] })).toEqual(['occurrence-lost']);
    expect(brokenBy([5_000], { reports: [report(1_600, 3_900)] })).toEqual(['occurrence-lost']);
  });

  it('has an exception where the store has lost the state of the job', () => {
    expect(brokenBy([2_000, 4_000], { lossesMs: [3_500] })).toEqual([]);
    expect(brokenBy([2_000, 4_000], { lossesMs: [4_500] })).toEqual(['occurrence-lost']);
  });
});

describe('Each job has a leader', () => {
  it('is broken by a job without a leader when there should be one', () => {
    const vacancies = [{ rule: 'no-leader' as const, job: 'report', since: 'a is dead', dueMs: 5 }];
    expect(brokenIn({ vacancies })).toEqual(['no-leader']);
    expect(brokenIn({ vacancies, windows: [window('no-leader', { job: 'other' })] })).toEqual(['no-leader']);
    expect(brokenIn({ vacancies, windows: [window('no-leader', { job: 'report' })] })).toEqual([]);
  });
});

describe('An interval job', () => {
  const intervals = new Map([['report', 1_000]]);
  const first = run({ kind: 'interval', endedMs: 200 });
  const next = (startedMs: number): Run => later({ kind: 'interval', startedMs });
  const brokenBy = (...runs: readonly Run[]): Rule[] => brokenIn({ runs, intervals });

  it('runs one delay after the recorded end of its last run', () => {
    expect(brokenBy({ ...first, endRecordedMs: 201 }, next(1_200))).toEqual([]);
    expect(brokenBy({ ...first, endRecordedMs: 201 }, next(1_100))).toEqual(['run-too-early']);
    expect(brokenBy(first, { ...next(1_100), process: 'a' })).toEqual(['run-too-early']);
  });

  it('runs one delay after the start of a run whose end was not recorded before', () => {
    expect(brokenBy(first, next(1_000))).toEqual([]);
    expect(brokenBy({ ...first, endRecordedMs: 1_001 }, next(1_000))).toEqual([]);
    expect(brokenBy(first, next(900))).toEqual(['run-too-early']);
  });

  it('has an exception after a fault that loses what was recorded', () => {
    const windows = [window('run-too-early', { untilMs: 900 })];
    expect(brokenIn({ runs: [first, next(900)], intervals, windows })).toEqual([]);
    expect(brokenIn({ runs: [first, next(901)], intervals, windows })).toEqual(['run-too-early']);
  });

  it('is broken by a job that does not run although it has a leader', () => {
    expect(brokenIn({ vacancies: [{ rule: 'no-run', job: 'report', since: 'it is calm', dueMs: 5 }] })).toEqual([
      'no-run',
    ]);
  });
});

describe('The signal of a run', () => {
  it('fires at once when its replica gives the job back or loses the lease, unless the run has ended', () => {
    expect(broken([run({ signalDueMs: 5, abortedMs: 5 })])).toEqual([]);
    expect(broken([run({ signalDueMs: 10 })])).toEqual([]);
  });

  it('breaks the rule if it fires later, or never', () => {
    expect(broken([run({ signalDueMs: 5, abortedMs: 6 })])).toEqual(['signal-late']);
    expect(broken([run({ signalDueMs: 5 })])).toEqual(['signal-late']);
  });
});

describe('A lock of LockService', () => {
  it('gives each holder a larger token', () => {
    const grants = [5, 7, 6].map((token, atMs) => ({ lock: 'import', process: 'a', token, atMs }));
    expect(brokenIn({ grants: grants.slice(0, 2) })).toEqual([]);
    expect(brokenIn({ grants })).toEqual(['token-fell']);
    expect(brokenIn({ grants, windows: [window('token-fell', { job: 'import' })] })).toEqual([]);
  });
});

describe('A violation', () => {
  const evidenceOf = (history: Partial<History>): string[] =>
    check({
      runs: [],
      doubleLeads: [],
      vacancies: [],
      grants: [],
      leaderships: [],
      stayMs: 100,
      windows: [],
      intervals: new Map(),
      crons: new Map(),
      ...history,
    }).map(({ evidence }) => evidence);

  it('shows the runs that break the rule', () => {
    const runs = [run(), later({ startedMs: 5, heldLock: false, leaseLeftMs: 2 })];
    expect(evidenceOf({ runs, windows: [window('ended-lease')] })).toEqual([
      'report on a for 1970-01-01T00:00:00.000Z from 0.0 until 10.0, 500.0 ms of its lease left\n' +
        'report on b for 1970-01-01T00:00:01.000Z from 5.0 until 20.0, 2.0 ms of its lease left, without the lock',
    ]);
  });

  it('shows the leaders, and since when a job has none', () => {
    const doubleLeads = [{ job: 'report', processes: ['a', 'b'], atMs: 5 }] as const;
    const vacancies = [{ rule: 'no-leader' as const, job: 'report', since: 'a is dead', dueMs: 7 }];
    expect(evidenceOf({ doubleLeads, vacancies })).toEqual([
      'report is led by a and b at 5.0',
      'report has no leader at 7.0: a is dead',
    ]);
  });
});

describe('No job moves twice in ten minutes', () => {
  const move = (from: string, to: string, atMs: number, startedMs = 0) =>
    [
      { job: 'report', process: from, what: 'moved', atMs, startedMs },
      { job: 'report', process: to, what: 'gained', atMs: atMs + 1, startedMs },
    ] as const;

  it('is kept by a job that stays for so long', () => {
    expect(brokenIn({ leaderships: [...move('a', 'b', 0), ...move('b', 'a', 100)] })).toEqual([]);
  });

  it('is kept by a process that has started since and took the job of one that died', () => {
    expect(brokenIn({ leaderships: [...move('a', 'b', 0), ...move('b', 'a', 99, 1)] })).toEqual([]);
  });

  it('is broken by the process that got the job and gives it away sooner', () => {
    expect(brokenIn({ leaderships: [...move('a', 'b', 0), ...move('b', 'a', 99)] })).toEqual(['moved-twice']);
  });
});
