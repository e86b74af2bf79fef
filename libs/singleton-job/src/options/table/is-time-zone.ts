import { didYouMean } from '../../advice/suggest.js';
import { succeeds } from '../succeeds.js';

/** Of three letters, except those that everybody reads as Node does: `CET` has the summer time of Europe. */
const ABBREVIATION = /^(?!UTC|UCT|GMT|[CEMW]ET|PRC|RO[CK])[A-Z]{3}$/i;

const OFFSET = /^(?:UTC|GMT)?(?<sign>[+-])(?<hours>\d\d?)(?<minutes>:?\d\d)?$/i;

/**
 * Whether this Node knows it as the name of a time zone. False for offsets such as '+08:00', which have no summer time,
 * and for abbreviations: to Node BST is that of Bangladesh, and EST has no summer time.
 */
export function isTimeZone(value: unknown): value is string {
  // only some versions of Node.js accept an offset, and replicas must not differ
  if (typeof value !== 'string' || OFFSET.test(value) || ABBREVIATION.test(value)) return false;
  return succeeds(() => new Intl.DateTimeFormat('en', { timeZone: value }));
}

/** What to write in place of a value that is none. */
export function timeZoneFix(value: unknown): string {
  const fix = "use a name such as 'UTC' or 'Asia/Singapore'";
  if (typeof value !== 'string' || value === '') return fix;
  if (/^[A-Z]{3,4}$/i.test(value))
    return "such letters have several meanings or no summer time, so name a place, as in 'America/New_York'";
  const { sign, hours, minutes = '' } = OFFSET.exec(value)?.groups ?? {};
  if (sign === undefined) return didYouMean(value, Intl.supportedValuesOf('timeZone'), fix);
  const fixed = `Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}`;
  const orFixed =
    Number(minutes.replace(':', '')) === 0 && isTimeZone(fixed)
      ? `, or write '${fixed}', where the sign is the other way round`
      : '';
  return `an offset knows no summer time, so name a place, as in 'Europe/Berlin'${orFixed}`;
}
