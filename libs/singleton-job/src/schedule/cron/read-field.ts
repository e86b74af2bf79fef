import { createHash } from 'node:crypto';

export type FieldName = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'weekday';

interface FieldRule {
  readonly min: number;
  readonly max: number;
  /** How many values there are. A step is at most as long. */
  readonly size: number;
  /** The largest value of an `H` without a range. */
  readonly hashMax: number;
  /** The names of the values, from `min` on. */
  readonly names?: readonly string[];
  /** The form of an element with an `L`. */
  readonly last?: RegExp;
  /** The form of a field with a `#`: the value and its number. */
  readonly nth?: RegExp;
}

export const FIELD_RULES: Readonly<Record<FieldName, FieldRule>> = {
  second: { min: 0, max: 59, size: 60, hashMax: 59 },
  minute: { min: 0, max: 59, size: 60, hashMax: 59 },
  hour: { min: 0, max: 23, size: 24, hashMax: 23 },
  // every month has a 28th
  day: { min: 1, max: 31, size: 31, hashMax: 28, last: /^L$/ },
  month: {
    min: 1,
    max: 12,
    size: 12,
    hashMax: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  // 0 and 7 are both Sunday
  weekday: {
    min: 0,
    max: 7,
    size: 7,
    hashMax: 6,
    names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
    last: /^(?:\d|[A-Za-z]{3})L$/,
    nth: /^(\d|[A-Za-z]{3})#([1-5])$/,
  },
};

/** `*`, `H` or `H(1-5)`, a value or a range; each with or without a step. */
const ELEMENT =
  /^(?:[*?]|(?<hash>H)(?:\((?<low>\d+)-(?<high>\d+)\))?|(?<from>\d+|[A-Za-z]{3})(?:-(?<to>\d+|[A-Za-z]{3}))?)(?:\/(?<step>\d+))?$/;

/** The values that one field allows. Sunday is 0. */
export interface FieldValues {
  /** Ascending, and each value once. */
  readonly values: readonly number[];
  /** The values of which only the last one in the month counts: 5 for `5L`. The `L` of the day of month is 31. */
  readonly last: readonly number[];
  /** The number behind the `#`: only the first, second … of them in the month counts. 0 without a `#`. */
  readonly nth: number;
}

/**
 * Reads a list of elements such as `*`, `5`, `MON-FRI`, `10-50/20` or `L`, or a weekday with a `#`.
 *
 * @throws SyntaxError for an element that cannot be read, or a value that two elements of the list allow.
 */
export function readField(text: string, name: FieldName, jobName: string): FieldValues {
  const rule = FIELD_RULES[name];
  const seed = `${name} ${jobName}`;
  const [, weekday, nth] = rule.nth?.exec(text) ?? [];
  if (weekday !== undefined) return { values: readElement(weekday, rule, seed), last: [], nth: Number(nth) };

  const last: number[] = [];
  const values: number[] = [];
  for (const element of text.split(',')) {
    if (rule.last?.test(element)) last.push(element === 'L' ? rule.max : valueOf(element.slice(0, -1), rule));
    else values.push(...readElement(element, rule, seed));
  }
  for (const list of [values, last]) {
    if (new Set(list).size < list.length) throw new SyntaxError(`a value comes twice in '${text}'`);
  }
  return { values: values.toSorted((a, b) => a - b), last: last.map((value) => wrap(value, rule)), nth: 0 };
}

function readElement(element: string, rule: FieldRule, seed: string): readonly number[] {
  const form = ELEMENT.exec(element)?.groups;
  if (form === undefined) throw new SyntaxError(`cannot read '${element}'`);
  const step = Number(form['step'] ?? 1);
  if (step < 1 || step > rule.size) throw new SyntaxError(`a step must be from 1 to ${rule.size}, got '${element}'`);
  const [low, high] = boundsOf(form, rule);
  if (low > high) throw new SyntaxError(`a range must go up, got '${element}'`);

  if (form['hash'] === undefined) return sequence(low, high, step, rule);
  const choices = high - low + 1;
  if (form['step'] === undefined) return [wrap(low + (hashOf(seed) % choices), rule)];
  return sequence(low + (hashOf(seed) % Math.min(step, choices)), high, step, rule);
}

function boundsOf(form: Partial<Record<string, string>>, rule: FieldRule): [low: number, high: number] {
  const { hash, low, high, from, to, step } = form;
  if (from !== undefined) {
    const first = valueOf(from, rule);
    if (to !== undefined) return [first, valueOf(to, rule)];
    return [first, step === undefined ? first : rule.max];
  }
  if (hash === undefined) return [rule.min, rule.max];
  return [Math.max(Number(low ?? rule.min), rule.min), Math.min(Number(high ?? rule.hashMax), rule.max)];
}

function valueOf(text: string, { min, max, names = [] }: FieldRule): number {
  const named = names.indexOf(text.toUpperCase());
  const value = named === -1 ? Number(text) : min + named;
  if (value >= min && value <= max) return value;
  throw new SyntaxError(`a value must be from ${min} to ${max}, got '${text}'`);
}

function sequence(first: number, upTo: number, step: number, rule: FieldRule): number[] {
  const length = Math.floor((upTo - first) / step) + 1;
  return [...new Set(Array.from({ length }, (_, index) => wrap(first + index * step, rule)))];
}

/** Makes 0 of the weekday 7. Every other value stays. */
function wrap(value: number, { min, size }: FieldRule): number {
  return min + ((value - min) % size);
}

/** Must never change: replicas of different versions must have the same values of `H`. */
function hashOf(seed: string): number {
  return createHash('sha256').update(seed).digest().readUInt32BE();
}
