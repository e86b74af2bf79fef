import { readFields } from './cron-fields.js';
import { type CronText, splitCron } from './cron-text.js';
import { elapsedTimes } from './elapsed-times.js';
import { fixedTimes } from './fixed-times.js';
import { InvalidScheduleError } from '../invalid-schedule.error.js';
import { LocalCalendar } from './local-calendar.js';
import { latestBy } from './latest-by.js';
import { type CronSchedule } from '../schedule.js';
import { TimeZone } from './time-zone.js';

/** The context of an expression. */
interface CronContext {
  /** The name of a time zone, checked. @default 'UTC' */
  readonly timeZone?: string;
}

/**
 * Whether an expression ever fires is computed from this time on, not from now. So the result never depends on the
 * date.
 */
const REFERENCE = Date.UTC(2026, 0);

/**
 * The occurrences of a cron expression: 5 fields, or 6 with seconds in front; names, lists, ranges, steps, `L`, `#`,
 * `?` and the usual aliases (`@daily`).
 *
 * Days are as in Vixie cron. `0 0 13 * 5` restricts day of month and weekday: a day matches if one of them does. If one
 * of the two fields begins with `*`, a day must match by both.
 *
 * DST is as in Vixie cron. An expression whose minute or hour begins with `*` follows elapsed time. Any other fires
 * once per local time: at the shift if its time is skipped, in the first pass if it is repeated.
 *
 * @throws InvalidScheduleError for an expression that cannot be read or never fires.
 */
export function cron(expression: string, { timeZone = 'UTC' }: CronContext = {}): CronSchedule {
  const text = splitCron(expression);
  const fields = readFields(text);
  const zone = TimeZone.of(timeZone);
  const calendar = new LocalCalendar(fields);
  const next = followsElapsedTime(text) ? elapsedTimes(calendar, zone) : fixedTimes(calendar, zone);
  if (next(REFERENCE) === undefined) {
    throw new InvalidScheduleError(
      `cron expression must fire at some time, got '${text.canonical}', which never does: check its day and month`,
    );
  }

  const summary = `${text.canonical} ${zone.name}`;
  return Object.freeze({
    kind: 'cron' as const,
    summary,
    description: `cron ${summary}`,
    timeZone: zone.name,
    next,
    latest: latestBy(next),
  });
}

/** As in Vixie cron, only the first character of a field counts: `0-59` is a list of fixed times. */
function followsElapsedTime({ fields: [, minute, hour] }: CronText): boolean {
  return /^[*?]/.test(minute) || /^[*?]/.test(hour);
}
