import { describe, expect, it } from '@jest/globals';

import { FIELD_RULES, type FieldName, readField } from './read-field.js';

const FIELDS = Object.keys(FIELD_RULES) as FieldName[];

describe('a field of a cron expression', () => {
  it.each<[FieldName, string, { values?: readonly number[]; last?: readonly number[]; nth?: number }]>([
    ['second', '59,0', { values: [0, 59] }],
    ['minute', '58-59', { values: [58, 59] }],
    ['minute', '10/25', { values: [10, 35] }],
    ['minute', '10-50/20,11', { values: [10, 11, 30, 50] }],
    ['hour', '*/12', { values: [0, 12] }],
    ['day', '1,L', { values: [1], last: [31] }],
    ['month', 'jan-MAR,12', { values: [1, 2, 3, 12] }],
    ['weekday', '0', { values: [0] }],
    ['weekday', '5-7', { values: [0, 5, 6] }],
    ['weekday', 'MON-fri', { values: [1, 2, 3, 4, 5] }],
    ['weekday', '*', { values: [0, 1, 2, 3, 4, 5, 6] }],
    ['weekday', '1,5L,7L', { values: [1], last: [5, 0] }],
    ['weekday', 'FRIL', { last: [5] }],
    ['weekday', 'FRI#5', { values: [5], nth: 5 }],
  ])('of %ss is read: %s', (name, field, found) => {
    expect(readField(field, name)).toMatchObject({ values: [], last: [], nth: 0, ...found });
  });

  it.each(FIELDS)('is refused when a step is longer than the field: %s', (name) => {
    const { size } = FIELD_RULES[name];
    expect(readField(`*/${size}`, name).values).toEqual([FIELD_RULES[name].min]);
    expect(() => readField(`*/${size + 1}`, name)).toThrow(SyntaxError);
  });

  it.each([
    '',
    '1,,2',
    '-1',
    '1.5',
    '*/0',
    'H',
    'HHH',
    'H-5',
    'H(0-5)',
    'h',
    '5l',
    '05L',
    '01#2',
    '1#02',
    '1#6',
    '*#2',
    '0MON',
    '1/MAY',
  ])('is refused in a form that cron-parser may take for another one: %j', (field) => {
    for (const name of FIELDS) expect(() => readField(field, name)).toThrow(SyntaxError);
  });
});
