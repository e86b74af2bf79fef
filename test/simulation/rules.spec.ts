import { describe, expect, it } from '@jest/globals';
import { check, type Rule, type Run, type Window } from './rules.js';

const run = (overrides: Partial<Run> = {}): Run => ({
  job: 'report',
  process: 'a',
  scheduledAt: 0,
  startedMs: 0,
  endedMs: 10,
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
const broken = (runs: readonly Run[], windows: readonly Window[] = []): Rule[] =>
  check({ runs, windows, settleMs: 3, cronJobs: ['report'] }).map(({ rule }) => rule);

describe('No run starts under an ended lease', () => {
  it('is kept by runs that follow one another, each under a lease of its own', () => {
    expect(broken([run(), later()])).toEqual([]);
    expect(broken([run({ leaseLeftMs: 0 })])).toEqual([]);
  });

  it('is broken by a start past the deadline of the replica itself, whatever went wrong', () => {
    expect(broken([run({ leaseLeftMs: -1 })], [window('ended-lease')])).toEqual(['ended-lease']);
  });

  it('is broken by a start without the lock, but for a fault that took the lock away', () => {
    const start = run({ heldLock: false });
    expect(broken([start])).toEqual(['ended-lease']);
    expect(broken([start], [window('ended-lease')])).toEqual([]);
    expect(broken([start], [window('ended-lease', { job: 'other' })])).toEqual(['ended-lease']);
    expect(broken([start], [window('ended-lease', { fromMs: 1 })])).toEqual(['ended-lease']);
  });
});

describe('No two replicas run a job at the same time', () => {
  it('is kept by runs of two jobs, and by one that settles in time after its signal', () => {
    expect(broken([run(), later({ job: 'other', startedMs: 5 })])).toEqual([]);
    expect(broken([run({ endedMs: 90, abortedMs: 7 }), later()])).toEqual([]);
  });

  it('is broken by a run that starts before another has ended', () => {
    expect(broken([later({ startedMs: 9 }), run()])).toEqual(['two-leaders']);
    expect(broken([run({ endedMs: 90, abortedMs: 8 }), later()])).toEqual(['two-leaders']);
    expect(broken([{ job: 'report', process: 'a', scheduledAt: 0, startedMs: 0 }, later()])).toEqual(['two-leaders']);
  });

  it('has an exception for as long as a fault lasts, and for its process alone', () => {
    const runs = [run(), later({ startedMs: 5 })];
    expect(broken(runs, [window('two-leaders', { process: 'a' })])).toEqual([]);
    expect(broken(runs, [window('two-leaders', { process: 'c' })])).toEqual(['two-leaders']);
    expect(broken(runs, [window('two-leaders', { untilMs: 9 })])).toEqual(['two-leaders']);
  });
});

describe('No occurrence starts twice', () => {
  it('is kept by one start for each occurrence, and by slots, which are no occurrences', () => {
    expect(broken([run(), later()])).toEqual([]);
    expect(broken([run({ job: 'slot' }), later({ job: 'slot', scheduledAt: 0 })])).toEqual([]);
  });

  it('is broken by a second start', () => {
    expect(broken([run(), later({ scheduledAt: 0 })])).toEqual(['started-twice']);
  });

  it('has an exception where the claim was lost, but not for a process that started it before', () => {
    const windows = [window('started-twice')];
    expect(broken([run(), later({ scheduledAt: 0 })], windows)).toEqual([]);
    expect(broken([run(), later({ scheduledAt: 0, process: 'a' })], windows)).toEqual(['started-twice']);
  });
});

describe('A violation', () => {
  it('shows the runs that break the rule', () => {
    const runs = [run(), later({ startedMs: 5, heldLock: false, leaseLeftMs: 2 })];
    const violations = check({ runs, windows: [window('ended-lease')], settleMs: 3, cronJobs: [] });
    expect(violations.map(({ evidence }) => evidence)).toEqual([
      'report on a for 1970-01-01T00:00:00.000Z from 0.0 until 10.0, 500.0 ms of its lease left\n' +
        'report on b for 1970-01-01T00:00:01.000Z from 5.0 until 20.0, 2.0 ms of its lease left, without the lock',
    ]);
  });
});
