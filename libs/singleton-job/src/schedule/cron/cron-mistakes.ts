import { type CronText } from './cron-text.js';

interface FieldRule {
  readonly name: string;
  readonly expected: string;
  readonly size: number;
  /** How a range is written that goes around the end of the field. */
  readonly around: string;
}

const RULES: readonly FieldRule[] = [
  { name: 'second', expected: '0-59', size: 60, around: '50-59,0-10 for 50-10' },
  { name: 'minute', expected: '0-59', size: 60, around: '50-59,0-10 for 50-10' },
  { name: 'hour', expected: '0-23', size: 24, around: '22-23,0-2 for 22-2' },
  { name: 'day of month', expected: '1-31 or L', size: 31, around: '28-31,1-3 for 28-3' },
  { name: 'month', expected: '1-12 or JAN-DEC', size: 12, around: '11-12,1-2 for NOV-FEB' },
  { name: 'weekday', expected: '0-7, SUN-SAT, 5L or MON#2', size: 7, around: 'FRI,SAT,SUN for FRI-SUN' },
];

const WEEKDAY = 5;

const ELEMENT =
  /^(?:(?:[*?]|H(?:\(\d+-\d+\))?|(?:\d+|[A-Za-z]{3})(?:-(?:\d+|[A-Za-z]{3}))?)(?:\/\d+)?|L|(?:\d|[A-Za-z]{3})(?:L|#\d))$/;

/**
 * Looks at the form of each element of a list and at its step; whether its numbers and names fit is left to the parser,
 * which takes `1H(0-5)` for a number and a step of 90 minutes for one of an hour.
 *
 * @throws SyntaxError
 */
export function checkSyntax(field: string, index: number): void {
  if (!field.split(',').every((element) => ELEMENT.test(element))) throw new SyntaxError(`cannot read '${field}'`);
  if (hasTooLongStep(field, index)) throw new SyntaxError(`step too long in '${field}'`);
}

/** What was expected of the field that could not be read, what came, and the fix if the mistake is a usual one. */
export function describeMistake({ canonical, fields }: CronText, index: number): string {
  const field = fields[index] ?? '';
  const { name, expected } = RULES[index] ?? { name: '', expected: '' };
  const got = `got '${field}' in '${canonical}'`;
  return `cron ${name} field must be ${expected}, or *, H, a list, range or step of them, ${got}${fixFor(field, index)}`;
}

function hasTooLongStep(field: string, index: number): boolean {
  const size = RULES[index]?.size ?? 0;
  return field.split(',').some((element) => Number(/\/(\d+)$/.exec(element)?.[1] ?? 1) > size);
}

function fixFor(field: string, index: number): string {
  if (hasTooLongStep(field, index)) return ': a step starts anew in each round of the field, use a fixed rate instead';
  if (/\dW|LW/i.test(field)) return ': the nearest weekday (W) is not supported';
  if (/\bL-/i.test(field)) return ': L is the last day and cannot be counted back from';
  if (/^\w+-\w+$/.test(field)) return `: a range goes up and never around, write ${RULES[index]?.around ?? ''}`;
  if (field.includes('#')) return ': a # stands alone and counts from 1 to 5';
  if (index === WEEKDAY && (field.match(/\b(?:0|7|SUN)\b/gi)?.length ?? 0) > 1) {
    return ': 0, 7 and SUN are the same day, write one of them';
  }
  if (field.includes(',')) return ': every element must be valid and no value may come twice';
  return '';
}
