import { describe, expect, it } from '@jest/globals';
import { CronPattern } from 'croner';
import fc from 'fast-check';

import { FIELD_RULES, type FieldName, type FieldValues, readField } from './read-field.js';

const FIELDS = Object.keys(FIELD_RULES) as FieldName[];
const NAMES = ['JAN', 'feb', 'Jul', 'DEC', 'SUN', 'mon', 'Fri', 'SAT', 'FOO'];

const value = fc.oneof({ weight: 4, arbitrary: fc.nat(9) }, fc.nat(61), fc.constantFrom(...NAMES)).map(String);
const range = fc.tuple(value, value).map(([from, to]) => `${from}-${to}`);
const wildcard = fc.constantFrom('*', '?');
const step = fc
  .tuple(fc.oneof(wildcard, value, range), fc.oneof({ weight: 4, arbitrary: fc.nat(8) }, fc.nat(70)))
  .map(([of, by]) => `${of}/${by}`);
const last = fc.oneof(
  fc.constant('L'),
  value.map((of) => `${of}L`),
);
const nth = fc.tuple(value, fc.nat(6)).map(([of, number]) => `${of}#${number}`);
const noise = fc.array(fc.constantFrom(...Array.from('0123456789*?,-/L')), { minLength: 1, maxLength: 5 });
const element = fc.oneof(
  { weight: 3, arbitrary: value },
  { weight: 3, arbitrary: range },
  { weight: 2, arbitrary: step },
  wildcard,
  last,
  nth,
  noise.map((parts) => parts.join('')),
);
const text = fc.array(element, { minLength: 1, maxLength: 3 }).map((elements) => elements.join(','));

/** What `read` returns, or that it refuses. */
function outcome(read: () => FieldValues): FieldValues | 'refused' {
  try {
    return read();
  } catch {
    return 'refused';
  }
}

/** The field as croner reads it. It takes a value that two elements allow, so each element is read alone. */
function oracle(field: string, name: FieldName): FieldValues {
  const parts = field.split(',').map((element) => readAlone(element, name));
  const [values, last] = [parts.flatMap((part) => part.values), parts.flatMap((part) => part.last)];
  for (const list of [values, last]) if (new Set(list).size < list.length) throw new Error(`twice in ${field}`);
  return { values: sorted(values), last: sorted(last), nth: Math.max(...parts.map((part) => part.nth)) };
}

function readAlone(element: string, name: FieldName): FieldValues {
  const { min, max } = FIELD_RULES[name];
  // croner has no start with a step, which is short for a range to the end of the field
  const range = element.replace(/^(\w+)\//, `$1-${max}/`);
  // with a step, croner does not check the end of the range
  patternOf(range.replace(/\/\d+$/, ''), name);
  const pattern = patternOf(range, name);
  if (name === 'weekday') return weekdaysOf(pattern.dayOfWeek);
  const values = pattern[name].flatMap((isAllowed, index) => (isAllowed ? [index + min] : []));
  return { values, last: pattern.lastDayOfMonth ? [max] : [], nth: 0 };
}

/** An expression in which no other field is restricted. */
function patternOf(field: string, name: FieldName): CronPattern {
  const expression = FIELDS.map((other) => (other === name ? field : '*')).join(' ');
  return new CronPattern(expression, 'UTC', { mode: '6-part' });
}

/** croner has bits for each weekday: its first to fifth in the month, and its last. */
function weekdaysOf(bits: readonly number[]): FieldValues {
  const [every, last] = [63, 32];
  const nth = bits.find((of) => of > 0 && of < last) ?? 0;
  const thatHave = (expected: number): number[] => [0, 1, 2, 3, 4, 5, 6].filter((day) => bits[day] === expected);
  return { values: thatHave(nth > 0 ? nth : every), last: thatHave(last), nth: nth > 0 ? Math.log2(nth) + 1 : 0 };
}

function sorted(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

/**
 * croner also takes a `#` in a list, a range that ends with a `#` or `L`, `05L`, and a range up to SUN as up to 7. It takes `0L` and
 * `7L` as the same value.
 */
function isReadOtherwise(field: string): boolean {
  return /,.*#|#.*,|[-/][^,]*[#L]|\d\d[#L]|-sun|(?:[07]|sun)L.*(?:[07]|sun)L/i.test(field);
}

describe('a field of a cron expression', () => {
  it.each(FIELDS)('has the values that croner reads, or both refuse it: %s', (name) => {
    fc.assert(
      fc.property(
        text.filter((field) => !isReadOtherwise(field)),
        (field) => {
          const own = outcome(() => readField(field, name));
          expect(own === 'refused' ? own : { ...own, last: sorted(own.last) }).toEqual(
            outcome(() => oracle(field, name)),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each(FIELDS)('is refused when a step is longer than the field: %s', (name) => {
    const { size } = FIELD_RULES[name];
    expect(readField(`*/${size}`, name).values).toEqual([FIELD_RULES[name].min]);
    expect(() => readField(`*/${size + 1}`, name)).toThrow(SyntaxError);
  });

  it.each(['H', 'H(0-5)', 'HHH', 'H-5', 'h', '5l', '05L', '01#2', '1#02', 'H#2', '*#2', '0MON', '1/MAY'])(
    'is refused in a form that cron-parser may take for another one: %s',
    (field) => {
      for (const name of FIELDS) expect(() => readField(field, name)).toThrow(SyntaxError);
    },
  );
});
