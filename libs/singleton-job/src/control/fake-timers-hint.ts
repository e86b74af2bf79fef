import { type Notify } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { waitsForRealTime } from '../base/events/warnings.js';

/** So many ticks are dropped in a row, during one run, before it is reported. */
const MIN_DROPPED = 3;

/** For `store: 'memory'`, which tests use: reports once a run that fake timers cannot end. */
export function fakeTimersHint(notify: Notify): JobObserver {
  const dropped = new Map<string, number>();
  let isReported = false;
  return {
    runStarted: ({ job }) => dropped.delete(job),
    tickDropped: ({ job, reason, count }) => {
      if (reason !== 'overlap' || isReported) return;
      dropped.set(job, (dropped.get(job) ?? 0) + count);
      // the fake timers of test runners have their clock as a property
      if ((dropped.get(job) ?? 0) < MIN_DROPPED || !('clock' in setTimeout)) return;
      isReported = true;
      notify('warning', waitsForRealTime(job));
    },
  };
}
