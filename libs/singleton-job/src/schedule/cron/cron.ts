import { type CronSchedule } from '../schedule.js';
import { cronError } from './cron-error.js';
import { readFields } from './cron-fields.js';
import { canonical, splitCron } from './cron-text.js';
import { elapsedTimes } from './elapsed-times.js';
import { fixedTimes } from './fixed-times.js';
import { latestBy } from './latest-by.js';
import { LocalCalendar } from './local-calendar.js';
import { TimeZone } from './time-zone.js';

/**
 * Whether an expression ever fires is computed from this time on, not from now. So the result never depends on the
 * date.
 */
const REFERENCE = Date.UTC(2026, 0);

/** A value, not a step. */
const WEEKDAY_NUMBER = /(?<=^|[,-])[1-7]/;

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
 * `timeZone` is the name of a time zone that was checked.
 *
 * @throws InvalidScheduleError for an expression that cannot be read or never fires.
 */
export function cron(expression: string, timeZone = 'UTC'): CronSchedule {
  const text = canonical(expression);
  const fields = readFields(text);
  const texts = splitCron(text);
  const field = texts.at(-1) ?? '';
  if (text.includes('?') && WEEKDAY_NUMBER.test(field))
    throw cronError('weekday field must have names beside a ?', text, { field });
  const { day, weekday } = fields;
  // one match is enough, so such a field makes every day match
  if (!day.isStarred && !weekday.isStarred && (day.values.length === 31 || weekday.values.length === 7))
    throw cronError('day or weekday field must leave a day out if both are set', text, {
      fix: 'write * for the one with all days',
    });
  const zone = TimeZone.of(timeZone);
  const calendar = new LocalCalendar(fields);
  const followsElapsedTime = fields.minute.isStarred || fields.hour.isStarred;
  const next = followsElapsedTime ? elapsedTimes(calendar, zone) : fixedTimes(calendar, zone);
  if (next(REFERENCE) === undefined)
    throw cronError('expression must fire at some time', text, { fix: 'check its day and month' });

  const summary = `${text} ${zone.name}`;
  return Object.freeze({
    kind: 'cron' as const,
    summary,
    description: `cron ${summary}`,
    fields: texts,
    timeZone: zone.name,
    next,
    latest: latestBy(next),
  });
}

/** The schedule that a record describes. Undefined: it is not known, as one with a jitter or of a later version. */
export function cronDescribedBy(description: string): CronSchedule | undefined {
  const [, expression, timeZone] = /^cron (.+) (\S+)$/.exec(description) ?? [];
  if (expression === undefined) return undefined;
  try {
    return cron(expression, timeZone);
  } catch {
    return undefined;
  }
}
