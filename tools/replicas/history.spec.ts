import { describe, expect, it } from '@jest/globals';
import { brokenFences, overlaps, type RecordedRun } from './history.js';

function run(node: string, startedAtMs: number, endedAtMs: number, more: Partial<RecordedRun> = {}): RecordedRun {
  return { job: 'tick', node, fencingToken: 1, startedAtMs, endedAtMs, ...more };
}

describe('a history of runs', () => {
  it('has no overlap where each run begins after the one before', () => {
    expect(overlaps([run('b', 20, 30), run('a', 0, 10), run('a', 10, 20)])).toEqual([]);
  });

  it('has an overlap where a run begins before another has ended, however long ago that began', () => {
    const long = run('a', 0, 100);
    const within = run('b', 40, 50);
    const after = run('b', 60, 110);
    expect(overlaps([after, within, long])).toEqual([
      [long, within],
      [long, after],
    ]);
  });

  it('has an overlap where a run never ended', () => {
    expect(overlaps([run('a', 0, Infinity), run('b', 9_000, 9_001)])).toHaveLength(1);
  });

  it('has no overlap between two jobs', () => {
    expect(overlaps([run('a', 0, 10), run('b', 5, 15, { job: 'other' })])).toEqual([]);
  });

  it('has a broken fence where a later leader has the same or a smaller token', () => {
    const first = run('a', 0, 1, { fencingToken: 7 });
    const same = run('b', 2, 3, { fencingToken: 7 });
    const smaller = run('c', 4, 5, { fencingToken: 6 });
    expect(brokenFences([first, same, smaller])).toEqual([
      [first, same],
      [same, smaller],
    ]);
  });

  it('has whole fences where a leader keeps its token and the next has a larger one', () => {
    const own = [run('a', 0, 1), run('a', 2, 3), run('b', 4, 5, { fencingToken: 2 })];
    expect(brokenFences(own)).toEqual([]);
  });
});
