import { type History, isInWindow, type Run, type Violation, violation } from './history.js';

/** How much faster than true time a clock of this simulation may be. */
const DRIFT = 0.01;
/** The time of the store as a leader knows it: its last answer may be 10 s old. */
const STORE_TIME_MS = 50;

/**
 * An interval job starts no sooner than its delay after the end of the last run, if that end was recorded. A process may have died before:
 * then no sooner than its delay after the start.
 */
export function runsTooEarly(history: History): Violation[] {
  return [...history.intervals].flatMap(([job, delayMs]) => {
    const runs = history.runs.filter((run) => run.job === job).toSorted((a, b) => a.startedMs - b.startedMs);
    return runs.flatMap((run, index) => {
      const last = runs[index - 1];
      if (last === undefined) return [];
      const gapMs = run.startedMs - countsFromMs(last, run);
      if (gapMs >= delayMs * (1 - DRIFT) - STORE_TIME_MS) return [];
      const moment = { fromMs: run.startedMs, untilMs: run.startedMs };
      return isInWindow(history, 'run-too-early', [last, run], moment) ? [] : [violation('run-too-early', last, run)];
    });
  });
}

function countsFromMs(last: Run, next: Run): number {
  const isKnown = last.process === next.process || (last.endRecordedMs ?? Infinity) <= next.startedMs;
  return isKnown ? (last.endedMs ?? last.startedMs) : last.startedMs;
}
