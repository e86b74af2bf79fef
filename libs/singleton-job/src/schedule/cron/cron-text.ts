import { cronError } from './cron-error.js';

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
  ['@minutely', '* * * * *'],
  ['@secondly', '* * * * * *'],
  ['@weekdays', '0 0 * * 1-5'],
  ['@weekends', '0 0 * * 0,6'],
]);

/**
 * A cron expression as it was written, with single spaces. An alias is replaced by its fields.
 *
 * @throws InvalidScheduleError for an alias that does not exist
 */
export function canonical(expression: string): string {
  const words = expression.trim().split(/\s+/).join(' ');
  if (!words.startsWith('@')) return words;
  const fields = ALIASES.get(words.toLowerCase());
  if (fields !== undefined) return fields;
  throw cronError(`expression must have fields or be one of ${[...ALIASES.keys()].join(', ')}`, words);
}

/**
 * The six fields of a canonical expression, seconds first. It does not check what is in them.
 *
 * @throws InvalidScheduleError for another number of fields than 5 or 6
 */
export function splitCron(expression: string): readonly string[] {
  const fields = expression === '' ? [] : expression.split(' ');
  if (fields.length === 5) return ['0', ...fields];
  if (fields.length === 6) return fields;
  const order = 'minute hour day month weekday, with seconds in front if 6';
  throw cronError(`expression must have 5 or 6 fields, not ${fields.length} (${order})`, expression);
}
