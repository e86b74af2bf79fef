import { InvalidScheduleError } from '../invalid-schedule.error.js';
import { FIELD_RULES, type FieldName, type FieldValues, readField } from './read-field.js';

/** The values that each field of a cron expression allows. */
export type CronFields = Readonly<Record<FieldName, FieldValues>>;

/** What other programs accept, and common mistakes. The first one that matches is the fix. */
const FIXES: readonly (readonly [found: RegExp, fix: string])[] = [
  [/^H\b/, ': write a number, and jitter to spread jobs'],
  [/\dW|LW/i, ': the nearest weekday (W) is not supported'],
  [/\bL-/i, ': L is the last day, and days before it cannot be written'],
  [/#/, ': # must stand alone, with a number from 1 to 5'],
  [/\//, ': a step must be at least 1 and cannot be longer than the field, use @FixedRate instead'],
  [/-/, ': a range must go up between two valid values, as in 22-23,0-2 for 22-2'],
  [/,/, ': every element must be valid and no value may come twice (0, 7 and SUN are the same day)'],
];

/**
 * Reads the fields of a cron expression. `texts`: six of them, seconds first.
 *
 * @throws InvalidScheduleError naming the first field that cannot be read.
 */
export function readFields(texts: readonly string[]): CronFields {
  const names = Object.keys(FIELD_RULES) as FieldName[];
  return Object.fromEntries(names.map((name, index) => [name, read(name, texts[index] ?? '')])) as CronFields;
}

function read(name: FieldName, text: string): FieldValues {
  try {
    return readField(text, name);
  } catch (cause) {
    const { expected } = FIELD_RULES[name];
    const [, fix = ''] = FIXES.find(([found]) => found.test(text)) ?? [];
    const message = `cron ${name} field must be ${expected}, or *, a list, range or step of them, got '${text}'${fix}`;
    throw new InvalidScheduleError(message, { cause });
  }
}
