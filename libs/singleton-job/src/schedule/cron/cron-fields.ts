import { type CronFieldCollection, CronExpressionParser } from 'cron-parser';

import { checkSyntax, describeMistake } from './cron-mistakes.js';
import { type CronText } from './cron-text.js';
import { InvalidScheduleError } from '../invalid-schedule.error.js';

/** What a cron expression allows, as sorted numbers; Sunday is 0. */
export interface CronFields {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  /** Days of the month; `last`: also the last one, whichever it is. */
  readonly day: { readonly values: ReadonlySet<number>; readonly last: boolean };
  /** `nth`: only the first, second … of them in the month, 0 for each; `last`: those of which only the last one counts. */
  readonly weekday: {
    readonly values: ReadonlySet<number>;
    readonly nth: number;
    readonly last: ReadonlySet<number>;
  };
  /** A day has to match by both its number and its weekday, not by either: one of the two fields begins with `*`. */
  readonly needsBothDays: boolean;
}

/**
 * Reads the fields of a cron expression. `H` stands for a value that is hashed from `seed`: the same one on every replica.
 * On days of the month it is at most 28, so that no month is left out.
 *
 * cron-parser reads the lists, ranges, steps and names of one field at a time; it never sees a date or a time zone.
 *
 * @throws InvalidScheduleError naming the field that cannot be read.
 */
export function readFields(text: CronText, seed: string): CronFields {
  const [second, minute, hour, day, month, weekday] = text.fields.map((field, index) => {
    try {
      checkSyntax(field, index);
      return parseAlone(field, index, seed);
    } catch (cause) {
      throw new InvalidScheduleError(describeMistake(text, index), { cause });
    }
  }) as FieldsAlone;
  return {
    seconds: numbers(second.second.values),
    minutes: numbers(minute.minute.values),
    hours: numbers(hour.hour.values),
    months: numbers(month.month.values),
    day: {
      values: new Set(numbers(day.dayOfMonth.values)),
      last: day.dayOfMonth.hasLastChar,
    },
    weekday: {
      values: new Set(numbers(weekday.dayOfWeek.values).map((value) => value % 7)),
      nth: weekday.dayOfWeek.nthDay,
      last: new Set(lastWeekdays(weekday.dayOfWeek.values)),
    },
    needsBothDays: [text.fields[3], text.fields[5]].some((field) => /^[*?]/.test(field)),
  };
}

type Fields = CronFieldCollection;
type FieldsAlone = [Fields, Fields, Fields, Fields, Fields, Fields];

/** An expression in which nothing but this field is restricted. Its place decides what `H` becomes. */
function parseAlone(field: string, index: number, seed: string): CronFieldCollection {
  const hashable = index === 3 ? field.replace(/H(?!\()/g, 'H(1-28)') : field;
  const expression = ['0', '*', '*', '*', '*', '*'].with(index, hashable).join(' ');
  return CronExpressionParser.parse(expression, { hashSeed: seed, currentDate: 0, tz: 'UTC' }).fields;
}

function numbers(values: readonly (number | string)[]): number[] {
  return values.filter((value) => typeof value === 'number').toSorted((a, b) => a - b);
}

function lastWeekdays(values: readonly (number | string)[]): number[] {
  return values.filter((value) => typeof value === 'string').map((value) => Number.parseInt(value, 10) % 7);
}
