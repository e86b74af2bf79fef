import { InvalidScheduleError } from '../invalid-schedule.error.js';

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

/** Six fields of text, seconds first. */
type SixFields = readonly [string, string, string, string, string, string];

export interface CronText {
  /** The expression as it was written, with single spaces. An alias is replaced by its fields. */
  readonly canonical: string;
  readonly fields: SixFields;
}

/**
 * Splits a cron expression into its fields. It does not check what is in them.
 *
 * @throws InvalidScheduleError for another number of fields than 5 or 6, or an alias that does not exist.
 */
export function splitCron(expression: string): CronText {
  const words = expression.trim().split(/\s+/).join(' ');
  const canonical = words.startsWith('@') ? spellOut(words) : words;
  const [a, b, c, d, e, ...more] = canonical.split(' ');
  if (a !== undefined && b !== undefined && c !== undefined && d !== undefined && e !== undefined) {
    const [f] = more;
    if (f === undefined) return { canonical, fields: ['0', a, b, c, d, e] };
    if (more.length === 1) return { canonical, fields: [a, b, c, d, e, f] };
  }
  const count = canonical === '' ? 0 : canonical.split(' ').length;
  throw new InvalidScheduleError(
    'cron expression must have 5 or 6 fields (minute hour day month weekday, with seconds in front if 6), ' +
      `got '${expression}' (${count} ${count === 1 ? 'field' : 'fields'})`,
  );
}

function spellOut(alias: string): string {
  const expression = ALIASES.get(alias.toLowerCase());
  if (expression !== undefined) return expression;
  const fix = alias.toLowerCase() === '@reboot' ? ': no job runs at start, do that in a Nest lifecycle hook' : '';
  throw new InvalidScheduleError(
    `cron expression must have fields or be one of ${[...ALIASES.keys()].join(', ')}, got '${alias}'${fix}`,
  );
}
