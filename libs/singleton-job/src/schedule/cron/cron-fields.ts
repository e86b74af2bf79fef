import { describeMistake } from './cron-mistakes.js';
import { type CronText } from './cron-text.js';
import { InvalidScheduleError } from '../invalid-schedule.error.js';
import { type FieldName, type FieldValues, readField } from './read-field.js';

/** What a cron expression allows. */
export interface CronFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  readonly day: FieldValues;
  readonly weekday: FieldValues;
  /** A day has to match by both its number and its weekday, not by either: one of the two fields begins with `*`. */
  readonly needsBothDays: boolean;
}

/**
 * Reads the fields of a cron expression. `H` stands for a value that is hashed from the job's name and the field: the same
 * one on every replica. On days of the month it is at most 28, so that no month is left out.
 *
 * @throws InvalidScheduleError naming the first field that cannot be read.
 */
export function readFields({ canonical, fields }: CronText, jobName: string): CronFields {
  const [second, minute, hour, day, month, weekday] = fields;
  const read = (name: FieldName, field: string): FieldValues => {
    try {
      return readField(field, name, jobName);
    } catch (cause) {
      throw new InvalidScheduleError(describeMistake(name, field, canonical), { cause });
    }
  };
  return {
    // in the order in which they are written: the first mistake is reported
    seconds: read('second', second).values,
    minutes: read('minute', minute).values,
    hours: read('hour', hour).values,
    day: read('day', day),
    months: read('month', month).values,
    weekday: read('weekday', weekday),
    needsBothDays: [day, weekday].some((field) => /^[*?]/.test(field)),
  };
}
