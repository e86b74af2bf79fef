import { describe, expect, it } from '@jest/globals';
import { CronExpressionParser } from 'cron-parser';
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

/** The field as cron-parser reads it, in an expression in which no other field is restricted. */
function oracle(field: string, name: FieldName): FieldValues {
  const expression = ['0', '*', '*', '*', '*', '*'].with(FIELDS.indexOf(name), field).join(' ');
  const { second, minute, hour, dayOfMonth, month, dayOfWeek } = CronExpressionParser.parse(expression).fields;
  const { values } = { second, minute, hour, day: dayOfMonth, month, weekday: dayOfWeek }[name];
  const sunday = (of: number): number => (name === 'weekday' ? of % 7 : of);
  const numbers = values.filter((of) => typeof of === 'number').map(sunday);
  const lasts = values.filter((of) => typeof of === 'string').map((of) => (name === 'day' ? 31 : sunday(parseInt(of))));
  return {
    values: [...new Set(numbers)].toSorted((a, b) => a - b),
    last: lasts.toSorted((a, b) => a - b),
    nth: name === 'weekday' ? dayOfWeek.nthDay : 0,
  };
}

/** cron-parser takes a step that is longer than the field, which starts anew in each round: every hour for 90 minutes. */
function hasTooLongStep(field: string, name: FieldName): boolean {
  return Array.from(field.matchAll(/\/(\d+)/g)).some(([, by]) => Number(by) > FIELD_RULES[name].size);
}

describe('a field of a cron expression', () => {
  it.each(FIELDS)('has the values that cron-parser reads, or both refuse it: %s', (name) => {
    fc.assert(
      fc.property(
        text.filter((field) => !hasTooLongStep(field, name)),
        (field) => {
          const own = outcome(() => readField(field, name, ''));
          const sorted = own === 'refused' ? own : { ...own, last: own.last.toSorted((a, b) => a - b) };
          expect(sorted).toEqual(outcome(() => oracle(field, name)));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it.each(FIELDS)('is refused when a step is longer than the field: %s', (name) => {
    const { size } = FIELD_RULES[name];
    expect(readField(`*/${size}`, name, '').values).toEqual([FIELD_RULES[name].min]);
    expect(() => readField(`*/${size + 1}`, name, '')).toThrow(SyntaxError);
  });

  it.each(['1H(0-5)', 'HHH', 'H-5', 'h', '5l', '05L', '01#2', '1#02', 'H#2', '*#2', '0MON', '1/MAY'])(
    'is refused in a form that cron-parser may take for another one: %s',
    (field) => {
      for (const name of FIELDS) expect(() => readField(field, name, 'job')).toThrow(SyntaxError);
    },
  );
});

describe('an H in a field', () => {
  const jobName = fc.string({ minLength: 1 });

  it.each(FIELDS)('is one value from the whole field, or up to 28 in the day of month: %s', (name) => {
    const { min, hashMax } = FIELD_RULES[name];
    const seen = new Set(Array.from({ length: 1_000 }, (_, n) => readField('H', name, `job-${n}`).values).flat());
    expect([...seen].toSorted((a, b) => a - b)).toEqual(Array.from({ length: hashMax - min + 1 }, (_, n) => min + n));
  });

  it('takes the part of its range that lies in the field', () => {
    fc.assert(
      fc.property(jobName, (name) => {
        const [hour] = readField('H(22-99)', 'hour', name).values;
        expect([22, 23]).toContain(hour);
      }),
    );
  });
});
