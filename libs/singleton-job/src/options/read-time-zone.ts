import { isTimeZone } from '../time/index.js';
import { type OptionReader } from './option-reader.js';
import { didYouMean } from './suggest.js';

/** Reads `timeZone`. */
export function readTimeZone(reader: OptionReader): string | undefined {
  return reader.checked('timeZone', isTimeZone, { expected: 'an IANA time zone', fix: timeZoneFix });
}

function timeZoneFix(value: unknown): string {
  const fix = "use a name such as 'UTC' or 'Asia/Singapore'";
  return typeof value === 'string' && value !== '' ? didYouMean(value, Intl.supportedValuesOf('timeZone'), fix) : fix;
}
