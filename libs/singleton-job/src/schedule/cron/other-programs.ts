import { formatDuration, parseDuration } from '../../base/text/duration.js';
import { InvalidScheduleError } from '../invalid-schedule.error.js';

const QUARTZ_WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const WEEKDAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];
/** A value of a weekday field, not a step. */
const NUMBER = /(?<=^|[,-])[1-7]/g;

/**
 * Refuses what other programs write, with the same in the words of this library: a time zone, a duration, and the forms
 * of AWS and Quartz, which have a year as the last field and 1 for Sunday. Some of them would be read as something else
 * here. `words`: single spaces.
 *
 * @throws InvalidScheduleError
 */
export function refuseOtherPrograms(words: string): void {
  const refuse = (expected: string, fix: string): never => {
    throw new InvalidScheduleError(`cron expression must have ${expected}, got '${words}': ${fix}`);
  };
  const zoned =
    /^(?:CRON_)?TZ=(?<zone>\S+) (?<rest>.+)$/.exec(words) ??
    /^(?<rest>.+) (?<zone>UTC|Z|(?!SAT|OCT)[A-Z]{2,3}T|(?:UTC|GMT)?[+-]\d[\d:]*|[A-Z][A-Za-z_]+\/[A-Z][\w/+-]*)$/.exec(
      words,
    );
  const { zone, rest = '' } = zoned?.groups ?? {};
  if (zone !== undefined) {
    const option = /^(?:UTC|GMT)$|\//.test(zone) ? `: '${zone}'` : " with a name such as 'UTC' or 'Europe/Berlin'";
    refuse('no time zone', `write '${rest}' and the option timeZone${option}`);
  }
  const every = /^(?:@?every |rate\()(?<text>.+?)\)?$/i.exec(words)?.groups?.['text'];
  if (every !== undefined) refuse('fields', `write a period, as in @FixedRate('${periodOf(every)}')`);

  const fields = words.replace(/^cron\((.+)\)$/, '$1').split(' ');
  const isOfAws = fields.length === 6 && (fields[2] === '?' || fields[4] === '?' || /^\d{4}/.test(fields[5] ?? ''));
  if (isOfAws || fields.length === 7)
    refuse('5 or 6 fields and no year', `leave the year out, as in '${named(fields.slice(0, -1))}'`);
  const days = [fields.length - 3, fields.length - 1];
  if (fields.some((field, index) => field.includes('?') && !days.includes(index)))
    refuse('? in the fields of a day only', 'write * in the others');
  if (words.includes('?') && fields.at(-1)?.search(NUMBER) !== -1)
    refuse(
      'names of weekdays beside a ?',
      `1 is Monday here and in Spring, and Sunday in Quartz and AWS. Write '${named(fields, WEEKDAYS)}' or '${named(fields)}'`,
    );
}

/** With names for the weekdays, where their numbers may be those of Quartz. */
function named(fields: readonly string[], names = QUARTZ_WEEKDAYS): string {
  const weekday = fields.at(-1) ?? '';
  const isOfQuartz = fields.some((field) => field.includes('?'));
  const name = (number: string): string => names[Number(number) - 1] ?? number;
  return [...fields.slice(0, -1), isOfQuartz ? weekday.replaceAll(NUMBER, name) : weekday]
    .join(' ')
    .replaceAll('?', '*');
}

/** `90m` for `1h30m`, `5m` for `5 minutes`. */
function periodOf(text: string): string {
  const compact = text.replaceAll(' ', '').toLowerCase();
  const parts = [...compact.matchAll(/(\d*)(ms|[smhd])(?:ec|ond|in|ute|ou|r|ay|s)*/g)];
  if (parts.map(([part]) => part).join('') !== compact) return '5m';
  return formatDuration(parts.reduce((ms, [, count, unit]) => ms + (parseDuration(`${count || '1'}${unit}`) ?? 0), 0));
}
