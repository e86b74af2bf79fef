import { describeMistake } from './cron-mistakes.js';
import { type CronText } from './cron-text.js';
import { InvalidScheduleError } from '../invalid-schedule.error.js';
import { type FieldName, type FieldValues, readField } from './read-field.js';

/** The values that each field of a cron expression allows. */
export interface CronFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  readonly day: FieldValues;
  readonly weekday: FieldValues;
  /**
   * A day must match by day of month and by weekday, not only by one of them: one of the two fields begins with `*`.
   */
  readonly needsBothDays: boolean;
}

/**
 * Reads the fields of a cron expression.
 *
 * @throws InvalidScheduleError naming the first field that cannot be read.
 */
export function readFields({ canonical, fields }: CronText): CronFields {
  const [second, minute, hour, day, month, weekday] = fields;
  const read = (name: FieldName, field: string): FieldValues => {
    try {
      return readField(field, name);
    } catch (cause) {
      throw new InvalidScheduleError(describeMistake(name, field, canonical), { cause });
    }
  };
  return {
    // in the order of the expression: the first mistake is reported
    seconds: read('second', second).values,
    minutes: read('minute', minute).values,
    hours: read('hour', hour).values,
    day: read('day', day),
    months: read('month', month).values,
    weekday: read('weekday', weekday),
    needsBothDays: [day, weekday].some((field) => /^[*?]/.test(field)),
  };
}
