import { asDuration, BEFORE_ENV } from './durations.js';
import { quotesFix } from './values.js';

/** What to write in place of an expression, of which `field` cannot be read. Undefined: no mistake that is known. */
export function cronFix(words: string, field = ''): string | undefined {
  const [, fix] = MISTAKES.find(([found]) => found.test(field)) ?? [];
  return lookalikeFix(words) ?? quotesFix(words) ?? foreignFix(words) ?? fix;
}

/** What to write in place of an expression that is no text. */
export function noTextFix(value: unknown): string {
  if (value === undefined) return BEFORE_ENV;
  if (Array.isArray(value)) return 'put one decorator for each expression above the method, each with a name';
  if (value instanceof Date) return 'a schedule repeats; for one instant use a queue with delayed jobs';
  if (typeof value === 'number') return 'for a number of milliseconds use @FixedRate or @Interval';
  return "use five or six fields, as in '0 3 * * *'";
}

/** Characters that look like one of an expression, such as a dash of a text editor. */
const LOOKALIKES: readonly (readonly [found: RegExp, meant: string])[] = [
  [/[\p{Pd}\u2212\u2043]/gu, '-'],
  [/[\u2217\u204e\u066d\u2731\u00d7]/gu, '*'],
  [/[\u060c\u201a\u3001]/gu, ','],
  [/[\u2044\u2215\u29f8\u00f7]/gu, '/'],
  [/[\p{Cf}\p{Cc}]/gu, ''],
];
const CYRILLIC_AND_GREEK = 'АВСЕНІЈМОРЅТУΑΒΕΗΙΜΝΟΡΤΥ';
const LATIN = 'ABCEHIJMOPSTYABEHIMNOPTY';

function lookalikeFix(words: string): string | undefined {
  const [other] = /[^ -~]/u.exec(words) ?? [];
  const written = asAscii(words);
  if (other === undefined || /[^ -~]/.test(written)) return undefined;
  const code = `U+${other.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
  const meant = asAscii(other);
  const what = meant === '' ? `an invisible ${code}` : `'${other}' (${code}) in place of '${meant}'`;
  return `it has ${what}, write '${written}'`;
}

function asAscii(text: string): string {
  const letters = text.replaceAll(/[\u0370-\u04ff]/g, (letter) => LATIN[CYRILLIC_AND_GREEK.indexOf(letter)] ?? letter);
  const signs = LOOKALIKES.reduce((all, [found, meant]) => all.replaceAll(found, meant), letters);
  // digits and signs of full width
  return signs.normalize('NFKC');
}

/** In a field. */
const MISTAKES: readonly (readonly [found: RegExp, fix: string])[] = [
  [/^H\b|~/, 'write a number, and jitter to spread jobs'],
  [/\dW|LW/i, 'the nearest weekday (W) is not supported'],
  [/\bL-/i, 'L is the last day, and days before it cannot be written'],
  [/\?/, 'write *, because ? is for a day only'],
  [/#/, '# must stand alone, with a number from 1 to 5'],
  [/\//, 'a step must be at least 1 and cannot be longer than the field, use @FixedRate instead'],
  [/-/, 'a range must go up between two valid values, as in 22-23,0-2 for 22-2'],
  [/,/, 'every element must be valid and no value may come twice (0, 7 and SUN are the same day)'],
];

const QUARTZ_WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const WEEKDAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];
/** A value of a weekday field, not a step. */
const NUMBER = /(?<=^|[,-])[1-7]/g;

const ZONE_BEFORE = /^(?:CRON_)?TZ=(?<zone>\S+) (?<rest>.+)$/;
const ZONE_BEHIND =
  /^(?<rest>.+) (?<zone>UTC|Z|(?!SAT|OCT)[A-Z]{2,3}T|(?:UTC|GMT)?[+-]\d[\d:]*|[A-Z][A-Za-z_]+\/[A-Z][\w/+-]*)$/;
/** Of a day, as in `every day at 9am` and `*-*-* 03:00:00`. */
const TIME = /\b(?<hour>\d\d?)(?::(?<minute>\d\d)(?::\d\d)?|(?= ?[ap]m))(?: ?(?<half>[ap])m)?\b/i;
const PERIOD = /^(?:@?every |rate\()(?<text>.+?)\)?$/i;

/**
 * What other programs write, in the words of this library: a time zone, a duration, and the forms of AWS and Quartz,
 * which have a year as the last field and 1 for Sunday.
 */
function foreignFix(words: string): string | undefined {
  if (/^@reboot$/i.test(words)) return "add firstRun: 'now' to a job, or use a Nest lifecycle hook";
  const { zone, rest = '' } = (ZONE_BEFORE.exec(words) ?? ZONE_BEHIND.exec(words))?.groups ?? {};
  if (zone !== undefined) {
    const option = /^(?:UTC|GMT)$|\//.test(zone) ? `: '${zone}'` : " with a name such as 'UTC' or 'Europe/Berlin'";
    return `write '${rest}' and the option timeZone${option}`;
  }
  const { hour, minute = 0, half = '' } = TIME.exec(words)?.groups ?? {};
  if (hour !== undefined) {
    const ofDay = half === '' ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
    return `write '${Number(minute)} ${ofDay} * * *', for a weekday with one such as MON in place of the last *`;
  }
  const period = PERIOD.exec(words)?.groups?.['text'];
  if (period !== undefined) return `write a period, as in @FixedRate('${asDuration(period) ?? '5m'}')`;

  const fields = words.replace(/^cron\((.+)\)$/, '$1').split(' ');
  const isOfAws = fields.length === 6 && (fields[2] === '?' || fields[4] === '?' || /^\d{4}/.test(fields[5] ?? ''));
  if (isOfAws || fields.length === 7) return `leave the year out, as in '${named(fields.slice(0, -1))}'`;
  if (!words.includes('?') || fields.at(-1)?.search(NUMBER) === -1) return undefined;
  const both = `'${named(fields, WEEKDAYS)}' or '${named(fields)}'`;
  return `1 is Monday here and in Spring, and Sunday in Quartz and AWS. Write ${both}`;
}

/** With names for the weekdays, where their numbers may be those of Quartz. */
function named(fields: readonly string[], names = QUARTZ_WEEKDAYS): string {
  const weekday = fields.at(-1) ?? '';
  const isOfQuartz = fields.some((field) => field.includes('?'));
  const name = (number: string): string => names[Number(number) - 1] ?? number;
  const all = [...fields.slice(0, -1), isOfQuartz ? weekday.replaceAll(NUMBER, name) : weekday];
  return all.join(' ').replaceAll('?', '*');
}

const UNITS = ['second', 'minute', 'hour'];
const SIZES = [60, 60, 24];

/** What may surprise in the six fields of an expression. Undefined: nothing does. */
export function cronOddity(fields: readonly string[]): string | undefined {
  return oddTime(fields.slice(0, UNITS.length)) ?? oddDay(fields[3] ?? '', fields[5] ?? '');
}

/** A `*` before a value, and steps that do not fill the minute, the hour or the day. */
function oddTime(times: readonly string[]): string | undefined {
  const star = times.indexOf('*');
  const value = times.slice(star + 1).find((field) => /^(\*\/)?\d+$/.test(field));
  if (star >= 0 && value !== undefined)
    return `runs every ${UNITS[star]} while ${value} matches. If once is meant, write 0 for each * before it`;
  const uneven = times.find((field, index) => (SIZES[index] ?? 0) % stepOf(field) > 0);
  return uneven && `begins ${uneven} again at 0, so its last step is shorter. For even ones use @FixedRate`;
}

/** Steps that begin anew in each month, and a day beside a weekday, where one match is enough. */
function oddDay(day: string, weekday: string): string | undefined {
  const step = stepOf(day);
  const inARow = 30 % step === 0 ? ': the 31st and the 1st are two days in a row' : '';
  if (step > 1)
    return `begins ${day} again on the 1st, so its last step is shorter${inARow}. For even ones use @FixedRate`;
  if (/^[*?]/.test(day) || /^[*?]/.test(weekday)) return undefined;
  const week = WEEKS.indexOf(day) + 1;
  const isOne = week > 0 && /^\w+$/.test(weekday);
  const both = isOne ? `write ${weekday}#${week} for that weekday of the month` : 'let the option only decide';
  return `runs on each day that is ${day}, and on each weekday that is ${weekday}. If both must match, ${both}`;
}

const WEEKS = ['1-7', '8-14', '15-21', '22-28'];

function stepOf(field: string): number {
  return Number(/^\*\/(\d+)$/.exec(field)?.[1] ?? 1);
}
