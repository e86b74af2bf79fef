import { describe, expect, it } from '@jest/globals';
import { recordedRuns } from './recorded-runs.js';
import { type WorkerEvent, type WorkerEventPayload } from './worker-process.js';

function event(atMs: number, name: WorkerEvent['event'], payload: WorkerEventPayload = {}): WorkerEvent {
  return { event: name, atMs, payload: { job: 'tick', ...payload }, node: 'a', pid: 1 };
}

function spans(events: WorkerEvent[], exitedAtMs = Infinity): number[][] {
  return recordedRuns({ node: 'a', events, exitedAtMs }).map((run) => [run.startedAtMs, run.endedAtMs]);
}

describe('the runs of a process', () => {
  it('last from their start to the next end of a run of their job', () => {
    const other = event(3, 'runSucceeded', { job: 'other' });
    expect(spans([event(1, 'runStarted'), other, event(5, 'runFailed'), event(6, 'runStarted')])).toEqual([
      [1, 5],
      [6, Infinity],
    ]);
  });

  it('are distinguished by their number if several are under way', () => {
    const starts = [event(1, 'runStarted', { run: 1 }), event(2, 'runStarted', { run: 2 })];
    expect(spans([...starts, event(3, 'runSucceeded', { run: 2 }), event(9, 'runSucceeded', { run: 1 })])).toEqual([
      [1, 9],
      [2, 3],
    ]);
  });

  it('end with their process', () => {
    expect(spans([event(1, 'runStarted')], 7)).toEqual([[1, 7]]);
  });
});
