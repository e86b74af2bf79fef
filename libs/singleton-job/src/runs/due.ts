import { type RunRecord } from '../leadership/record.js';
import { type AnySchedule } from '../schedule/schedule.js';

/**
 * When the next tick of a job is due, in milliseconds since the epoch. An interval counts from the end of the last run
 * in the record, so its `now` is by the clock of the store. Undefined: a kind without ticks, or an interval of which no
 * end is known.
 */
export function nextDue(schedule: AnySchedule, run: RunRecord | undefined, now: number): number | undefined {
  if (schedule.kind !== 'interval') return schedule.next(now);
  // an end ahead of now is by a clock of the store that was set back
  return run?.endedAt === undefined ? undefined : Math.max(schedule.next(Math.min(run.endedAt, now)), now);
}
