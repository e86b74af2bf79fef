import { CronExpressionParser } from 'cron-parser';

export type FieldName = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'weekday';

interface FieldRule {
  /** Its values, for messages. */
  readonly expected: string;
  readonly min: number;
  /** How many values there are. A step is at most as long. */
  readonly size: number;
}

/** In the order of the fields in an expression. */
export const FIELD_RULES: Readonly<Record<FieldName, FieldRule>> = {
  second: { expected: '0-59', min: 0, size: 60 },
  minute: { expected: '0-59', min: 0, size: 60 },
  hour: { expected: '0-23', min: 0, size: 24 },
  day: { expected: '1-31 or L', min: 1, size: 31 },
  month: { expected: '1-12 or JAN-DEC', min: 1, size: 12 },
  // 0 and 7 are both Sunday
  weekday: { expected: '0-7, SUN-SAT, 5L or MON#2', min: 0, size: 7 },
};

/**
 * `*`, a value or a range; each with or without a step. cron-parser has an `H` of its own, and no name begins with one.
 */
const ELEMENT = /^(?:[*?]|(?:\d+|(?!H)[A-Za-z]{3})(?:-(?:\d+|(?!H)[A-Za-z]{3}))?)(?:\/(?<step>\d+))?$/;

/** The last day, or the last of a weekday. */
const LAST = /^(?:\d|[A-Za-z]{3})?L$/;

/** A field with a `#`: the weekday and its number. */
const NTH = /^(?:\d|[A-Za-z]{3})#[1-5]$/;

/** The values that one field allows. Sunday is 0. */
export interface FieldValues {
  /** Ascending, and each value once. */
  readonly values: readonly number[];
  /** The values of which only the last one in the month counts: 5 for `5L`. The `L` of the day of month is 31. */
  readonly last: readonly number[];
  /** The number behind the `#`: only the first, second … of them in the month counts. 0 without a `#`. */
  readonly nth: number;
  /** Whether it begins with `*` or `?`. As in Vixie cron, only the first character counts: `0-59` is a list. */
  readonly isStarred: boolean;
}

/**
 * Reads a list of elements such as `*`, `5`, `MON-FRI`, `10-50/20` or `L`, or a weekday with a `#`.
 *
 * cron-parser reads the values, in an expression without other fields. It also accepts forms that mean something else
 * to it, such as `0MON`, `*#2` and `1/MAY`. So each element must have a known form first.
 *
 * @throws SyntaxError for an element of another form, a step that is longer than the field.
 * @throws Error of cron-parser for a value outside the field, or one that two elements of the list allow.
 */
export function readField(text: string, name: FieldName): FieldValues {
  if (!NTH.test(text)) for (const element of text.split(',')) checkForm(element, name);
  const expression = Object.keys(FIELD_RULES).map((field) => (field === name ? text : '*'));
  // without a date it reads the clock
  const { fields } = CronExpressionParser.parse(expression.join(' '), { currentDate: 0, tz: 'UTC' });
  const { second, minute, hour, dayOfMonth: day, month, dayOfWeek: weekday } = fields;
  const found: readonly (number | string)[] = { second, minute, hour, day, month, weekday }[name].values;

  const { min, size } = FIELD_RULES[name];
  /** Makes 0 of the weekday 7. Every other value stays. */
  const wrap = (value: number): number => min + ((value - min) % size);
  const values = found.filter((value) => typeof value === 'number').map(wrap);
  const last = found.filter((value) => typeof value === 'string');
  return {
    values: [...new Set(values)].toSorted((a, b) => a - b),
    last: last.map((value) => (value === 'L' ? 31 : wrap(Number.parseInt(value, 10)))),
    nth: weekday.nthDay,
    isStarred: /^[*?]/.test(text),
  };
}

function checkForm(element: string, name: FieldName): void {
  if (LAST.test(element)) return;
  const form = ELEMENT.exec(element)?.groups;
  const isOfDays = name === 'day' || name === 'weekday';
  if (form === undefined || (element.startsWith('?') && !isOfDays)) throw new SyntaxError(`cannot read '${element}'`);
  const { size } = FIELD_RULES[name];
  const step = Number(form['step'] ?? 1);
  if (step < 1 || step > size) throw new SyntaxError(`a step must be from 1 to ${size}, got '${element}'`);
}
