import { FIELD_RULES, type FieldName } from './read-field.js';

interface FieldText {
  readonly name: string;
  readonly expected: string;
  /** How to write a range that wraps around the end of the field. */
  readonly around: string;
  /** The names of the values. */
  readonly names?: readonly string[];
}

const TEXTS: Readonly<Record<FieldName, FieldText>> = {
  second: { name: 'second', expected: '0-59', around: '50-59,0-10 for 50-10' },
  minute: { name: 'minute', expected: '0-59', around: '50-59,0-10 for 50-10' },
  hour: { name: 'hour', expected: '0-23', around: '22-23,0-2 for 22-2' },
  day: { name: 'day of month', expected: '1-31 or L', around: '28-31,1-3 for 28-3' },
  month: {
    name: 'month',
    expected: '1-12 or JAN-DEC',
    around: '11-12,1-2 for NOV-FEB',
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  weekday: {
    name: 'weekday',
    expected: '0-7, SUN-SAT, 5L or MON#2',
    around: 'FRI,SAT,SUN for FRI-SUN',
    names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
  },
};

/** Describes a field that cannot be read: what was expected, what was given, and the fix for a common mistake. */
export function describeMistake(name: FieldName, field: string, expression: string): string {
  const { name: label, expected } = TEXTS[name];
  const got = `got '${field}' in '${expression}'`;
  return `cron ${label} field must be ${expected}, or *, a list, range or step of them, ${got}${fixFor(name, field)}`;
}

function fixFor(name: FieldName, field: string): string {
  if (hasTooLongStep(name, field)) return ': a step cannot be longer than the field, use @FixedRate instead';
  if (/^H\b/.test(field)) return ': write a number, and jitter to spread jobs';
  if (/\dW|LW/i.test(field)) return ': the nearest weekday (W) is not supported';
  if (/\bL-/i.test(field)) return ': L is the last day, and days before it cannot be written';
  if (/^\w+-\w+$/.test(field)) {
    const wrong = field.split('-').find((value) => !isValue(value, name));
    if (wrong !== undefined) return `: ${wrong} is no ${TEXTS[name].name}, ${valuesFor(wrong, name)}`;
    return `: a range cannot go past the end of the field, write ${TEXTS[name].around}`;
  }
  if (field.includes('#')) return ': # must stand alone, with a number from 1 to 5';
  if (name === 'weekday' && (field.match(/\b(?:0|7|SUN)\b/gi)?.length ?? 0) > 1) {
    return ': 0, 7 and SUN are the same day, write one of them';
  }
  if (field.includes(',')) return ': every element must be valid and no value may come twice';
  return '';
}

function isValue(text: string, name: FieldName): boolean {
  const { min, max } = FIELD_RULES[name];
  const { names = [] } = TEXTS[name];
  return names.includes(text.toUpperCase()) || (Number(text) >= min && Number(text) <= max);
}

function valuesFor(text: string, name: FieldName): string {
  const { min, max } = FIELD_RULES[name];
  const { names } = TEXTS[name];
  return names === undefined || /^\d+$/.test(text) ? `write ${min} to ${max}` : `write ${names.join(', ')}`;
}

function hasTooLongStep(name: FieldName, field: string): boolean {
  return field.split(',').some((element) => Number(/\/(\d+)$/.exec(element)?.[1] ?? 1) > FIELD_RULES[name].size);
}
