import { type RecordedRun } from './history.js';
import { type WorkerEvent, type WorkerProcess } from './worker-process.js';

/** A run with what its tick was. */
export interface ProcessRun extends RecordedRun {
  readonly cause: string;
  /** The event that ended it; undefined if it still runs, or its process died. */
  readonly outcome: WorkerEvent['event'] | undefined;
}

const ENDS: readonly string[] = ['runSucceeded', 'runFailed', 'runCancelled'];

/** Every run that a process reported, in order. A run in flight at its death ended with it. */
export function recordedRuns({
  node,
  events,
  exitedAtMs,
}: Pick<WorkerProcess, 'node' | 'events' | 'exitedAtMs'>): ProcessRun[] {
  return events.flatMap(({ event, payload, atMs }, index) => {
    if (event !== 'runStarted' || payload?.job === undefined) return [];
    const { job, run, fencingToken = NaN, cause = '', scheduledAt = '' } = payload;
    const end = events.slice(index).find((later) => {
      return ENDS.includes(later.event) && later.payload?.job === job && later.payload.run === run;
    });
    const started = { job, node, fencingToken, cause, scheduledAtMs: Date.parse(scheduledAt), startedAtMs: atMs };
    return [{ ...started, endedAtMs: end?.atMs ?? exitedAtMs, outcome: end?.event }];
  });
}
