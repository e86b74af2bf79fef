import { isObject } from '../base/text/describe-value.js';
import { type Duration, parseDuration } from '../base/text/duration.js';
import { resolveOptions } from '../options/resolve-options.js';
import { readCallOptions } from '../options/table/option-table.js';
import { fromCode, matching } from '../options/table/option-types.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { defineRegisteredJob, type JobRegistration } from './job-registration.js';

/** So that no call blocks the event loop for long. */
const MAX_COUNT = 1_000;
const MAX_DATE = 8.64e15;

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_COUNT;
const isValidDate = (value: unknown): value is Date => value instanceof Date && !Number.isNaN(value.getTime());
const NEXT_TIMES_OPTIONS = {
  count: { type: fromCode('count', matching(isCount, `a whole number from 1 to ${MAX_COUNT}`, 'write such a number')) },
  from: { type: fromCode('from', matching(isValidDate, 'a valid Date', 'look where it is made')) },
} as const;

/** A schedule as in `register()`, with the options that change its times. */
export type NextTimesSchedule = JobRegistration['schedule'] & {
  /** As that of the job. It needs the name of the job, which is a part of each delay. @default 0 */
  readonly jitter?: Duration | undefined;
  /** Of the job. Only a jitter needs it. */
  readonly name?: string | undefined;
};

/**
 * When a job with this schedule is due, the next first. It needs no application, so that a test can tell what a
 * schedule means. An interval counts as if its runs took no time. `@WhileLeader` and `@Once` have no times, and a cron
 * expression may have fewer than `count`. A cron expression without `timeZone` is in UTC, whatever the module says.
 *
 * `count`: how many, 3 by default and 1,000 at most. `from`: the times are later than that; now by default.
 *
 * @example
 * ```ts
 * nextTimes({ cron: '0 3 * * *', timeZone: 'Europe/Berlin' }, { count: 2, from: new Date('2027-03-27T12:00:00Z') });
 * // 2027-03-28T01:00:00.000Z, 2027-03-29T01:00:00.000Z
 * ```
 *
 * @throws InvalidJobsError with every mistake
 */
export function nextTimes(
  schedule: NextTimesSchedule,
  options: { readonly count?: number; readonly from?: Date } = {},
): Date[] {
  const problems: string[] = [];
  const rest = { fix: 'write { count: 3 }', call: 'nextTimes(): ' };
  const { count = 3, from = new Date() } = readCallOptions(NEXT_TIMES_OPTIONS, options, problems, rest);
  const { name, jitter, ...kind } = isObject(schedule) ? schedule : {};
  if (jitter !== undefined && parseDuration(jitter) !== 0 && name === undefined)
    problems.push('nextTimes(): name must stand beside jitter, got jitter alone: it is a part of each delay');
  const registered = {
    name: name ?? 'job',
    jitter,
    schedule: isObject(schedule) ? kind : schedule,
    run: () => undefined,
  };
  const ofModule = resolveOptions({ projectName: 'project', store: 'memory', enabled: false }, {});
  const job = defineRegisteredJob(registered, ofModule, problems, 'nextTimes()');
  return timesAfter(job.schedule, from.getTime(), count).map((time) => new Date(time));
}

/** The next ticks, as many as there are up to `count`. */
export function timesAfter(schedule: AnySchedule, after: number, count: number): number[] {
  const times: number[] = [];
  let time = schedule.next(after);
  while (time !== undefined && time <= MAX_DATE && times.length < count) {
    times.push(time);
    time = schedule.next(time);
  }
  return times;
}
