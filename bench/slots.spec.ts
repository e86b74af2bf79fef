import { describe, expect, it } from '@jest/globals';
import { type RecordedRun } from '../tools/replicas/history.js';
import { mostAtOnce, overlapMs, repeatedSlots } from './slots.js';

function run(node: string, startedAtMs: number, more: Partial<RecordedRun> = {}): RecordedRun {
  return {
    job: 'tick',
    node,
    fencingToken: NaN,
    scheduledAtMs: NaN,
    startedAtMs,
    endedAtMs: startedAtMs + 50,
    ...more,
  };
}

describe('runs by slots', () => {
  it('repeat a slot of another replica, but not their own', () => {
    const repeated = run('b', 300);
    expect(repeatedSlots([repeated, run('a', 100), run('a', 200), run('b', 600)], 500)).toEqual([repeated]);
  });

  it('belong to the slot that they name, if they name one', () => {
    const late = run('b', 900, { scheduledAtMs: 0 });
    expect(repeatedSlots([run('a', 100), late], 500)).toEqual([late]);
    expect(repeatedSlots([run('a', 100), late], 500, 1_000)).toEqual([]);
  });

  it('are counted when most of them are under way', () => {
    expect(mostAtOnce([run('a', 0, { endedAtMs: Infinity }), run('b', 10), run('c', 20), run('a', 60)])).toBe(3);
  });

  it('overlap without the time in which a process was halted', () => {
    const pair = [run('a', 0, { endedAtMs: 100 }), run('b', 40, { endedAtMs: 90 })] as const;
    expect(overlapMs(pair)).toBe(50);
    expect(overlapMs(pair, [{ node: 'a', fromMs: 20, toMs: 80 }])).toBe(10);
    expect(overlapMs(pair, [{ node: 'c', fromMs: 20, toMs: 80 }])).toBe(50);
  });
});
