import { describe, expect, it } from '@jest/globals';
import { check, type History, type WitnessedRun } from '../support/checker.js';

const run = (overrides: Partial<WitnessedRun>): WitnessedRun => ({
  job: 'report',
  process: 'a',
  fencingToken: 1,
  scheduledAt: 0,
  startedMs: 0,
  endedMs: 10,
  ...overrides,
});
const rulesBrokenBy = (history: Partial<History>) =>
  check({ runs: [], reports: [], due: new Map(), ...history }).map(({ rule }) => rule);

describe('The checker of histories', () => {
  it('finds nothing in runs that follow one another', () => {
    const runs = [run({}), run({ scheduledAt: 10, startedMs: 10, endedMs: 20, process: 'b', fencingToken: 2 })];
    expect(rulesBrokenBy({ runs, due: new Map([['report', [0, 10]]]) })).toEqual([]);
  });

  it('finds two runs of a job in flight at once, whatever the order they are told in', () => {
    const runs = [run({ startedMs: 9, endedMs: 20, process: 'b', fencingToken: 2 }), run({})];
    expect(rulesBrokenBy({ runs })).toEqual(['overlap']);
  });

  it('finds an overlap with a run that never ended', () => {
    const open = { job: 'report', process: 'a', fencingToken: 1, scheduledAt: 0, startedMs: 0 };
    expect(rulesBrokenBy({ runs: [open, run({ startedMs: 99, endedMs: 100 })] })).toEqual(['overlap']);
  });

  it('lets runs of different jobs overlap, and runs of a process that stood still', () => {
    expect(rulesBrokenBy({ runs: [run({}), run({ job: 'other' })] })).toEqual([]);
    expect(rulesBrokenBy({ runs: [run({ stoodStill: true }), run({ startedMs: 5 })] })).toEqual([]);
  });

  it('finds a run that started while the lock was not held by its process', () => {
    expect(rulesBrokenBy({ runs: [run({ heldLock: false })] })).toEqual(['start-without-lock']);
  });

  it('finds a fencing token that is smaller than an earlier one', () => {
    const runs = [run({ fencingToken: 2 }), run({ startedMs: 10, endedMs: 11, fencingToken: 1 })];
    expect(rulesBrokenBy({ runs })).toEqual(['token-went-back']);
  });

  it('finds an occurrence that was started twice', () => {
    const runs = [run({}), run({ startedMs: 20, endedMs: 30, process: 'b', fencingToken: 2 })];
    expect(rulesBrokenBy({ runs, due: new Map([['report', [0]]]) })).toEqual(['started-twice']);
  });

  it('finds an occurrence that was neither started nor reported', () => {
    const reports = [{ job: 'report', process: 'a', from: 0, to: 20 }];
    const due = new Map([['report', [0, 10, 20, 30]]]);
    expect(rulesBrokenBy({ runs: [run({})], reports, due })).toEqual(['lost-in-silence']);
  });

  it('shows the lines of the history that break a promise', () => {
    const runs = [run({}), run({ startedMs: 5, endedMs: 7, process: 'b', fencingToken: 2 })];
    expect(check({ runs, reports: [], due: new Map() })[0]?.evidence).toBe(
      'report on a from 0 until 10, token 1, for 1970-01-01T00:00:00.000Z\n' +
        'report on b from 5 until 7, token 2, for 1970-01-01T00:00:00.000Z',
    );
  });
});
