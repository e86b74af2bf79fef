import { describe, expect, it } from '@jest/globals';
import { Cron } from 'croner';
import fc from 'fast-check';

import { readFields } from './cron-fields.js';
import { LocalCalendar } from './local-calendar.js';

function calendarOf(expression: string): LocalCalendar {
  return new LocalCalendar(readFields(expression));
}

/** A field of all the forms that are valid for numbers from `min` to `max`. */
function field(min: number, max: number): fc.Arbitrary<string> {
  const value = fc.integer({ min, max });
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant('*') },
    { weight: 3, arbitrary: value.map(String) },
    fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values) => values.join(',')),
    fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    fc.integer({ min: 1, max: max - min + 1 }).map((step) => `*/${step}`),
    fc
      .tuple(value, value, fc.integer({ min: 1, max: 5 }))
      .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
  );
}

const day = fc.oneof({ weight: 4, arbitrary: field(1, 28) }, fc.constantFrom('L', '31', '29-31', '10,L', '?'));
const weekday = fc.oneof(
  { weight: 4, arbitrary: field(0, 6) },
  fc.constantFrom('5L', '1#3', '7', '5#5', 'MON-FRI', '1,5L', '?'),
);
const expressions = fc
  .tuple(field(0, 59), field(0, 59), field(0, 23), day, field(1, 12), weekday)
  .map((fields) => fields.join(' '))
  .filter((expression) => !/ (?:31|29-31) \S+ [*?]$/.test(expression))
  // croner matches by either day also where Vixie cron matches by both
  .filter((expression) => !/ \*\/\S+ \S+ [^*?]\S*$| [^*?]\S* \S+ \*\/\S+$| \*\/\S+ \S+ \*\/\S+$/.test(expression));
const locals = fc.integer({ min: Date.UTC(1975, 0), max: Date.UTC(2080, 0) });

describe('the calendar of a cron expression', () => {
  it('finds the next match that croner finds in UTC', () => {
    fc.assert(
      fc.property(expressions, locals, (expression, after) => {
        const expected = new Cron(expression, { timezone: 'UTC' }).nextRun(new Date(after));
        expect(calendarOf(expression).atOrAfter(after + 1)).toBe(expected?.getTime());
      }),
      { numRuns: 300 },
    );
  });
});
