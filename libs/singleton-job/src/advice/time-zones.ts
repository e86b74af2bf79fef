import { didYouMean } from './suggest.js';

const OFFSET = /^(?:UTC|GMT)?(?<sign>[+-])(?<hours>\d\d?)(?<minutes>:?\d\d)?$/i;
/** `Etc/GMT-13` and `-14` are left out. */
const MAX_HOURS = 12;

/** What to write in place of a value that is no time zone. */
export function timeZoneFix(value: unknown): string {
  const fix = "use a name such as 'UTC' or 'Asia/Singapore'";
  if (typeof value !== 'string') return fix;
  if (/^[A-Z]{3,4}$/i.test(value))
    return "such letters have several meanings or no summer time, so name a place, as in 'America/New_York'";
  const { sign, hours, minutes = '' } = OFFSET.exec(value)?.groups ?? {};
  if (sign === undefined) return didYouMean(value, Intl.supportedValuesOf('timeZone'), fix);
  const place = "an offset knows no summer time, so name a place, as in 'Europe/Berlin'";
  if (Number(minutes.replace(':', '')) !== 0 || Number(hours) > MAX_HOURS) return place;
  return `${place}, or write 'Etc/GMT${sign === '+' ? '-' : '+'}${Number(hours)}', where the sign is the other way round`;
}
