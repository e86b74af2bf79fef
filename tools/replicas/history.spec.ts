import { describe, expect, it } from '@jest/globals';
import { brokenFences, overlaps, type RecordedRun, type Report, unaccountedOccurrences } from './history.js';

function run(node: string, startedAtMs: number, endedAtMs: number, more: Partial<RecordedRun> = {}): RecordedRun {
  return { job: 'tick', node, fencingToken: 1, scheduledAtMs: 0, startedAtMs, endedAtMs, ...more };
}

describe('a history of runs', () => {
  it('has no overlap where each run begins after the one before', () => {
    expect(overlaps([run('b', 20, 30), run('a', 0, 10), run('a', 10, 20)])).toEqual([]);
  });

  it('has an overlap if a run begins before an older one has ended', () => {
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

  const start = (scheduledAtMs: number, node = 'a'): RecordedRun => run(node, scheduledAtMs, 1, { scheduledAtMs });
  const report = (fromMs: number, toMs: number, reason = 'misfire'): Report => {
    return { job: 'tick', node: 'b', fromMs, toMs, reason, atMs: 9_000 };
  };

  it('accounts for occurrences that are each started or reported once', () => {
    expect(unaccountedOccurrences([start(1_000), start(4_000)], [report(1_000, 3_000)])).toEqual([]);
    expect(unaccountedOccurrences([start(1_000), start(3_000)], [report(1_500, 3_500, 'interrupted')])).toEqual([]);
  });

  it('does not account for an occurrence that starts twice or is reported wrongly', () => {
    const kinds = (starts: RecordedRun[], reports: Report[] = []): unknown[] =>
      unaccountedOccurrences(starts, reports).map((line) => line.split(':')[0]);
    expect(kinds([start(1_000), start(1_000, 'b')])).toEqual(['started-twice']);
    expect(kinds([start(1_000)], [report(0, 1_000)])).toEqual(['accounted-twice']);
    expect(kinds([start(1_000), start(3_000)])).toEqual(['neither started nor reported']);
  });
});
