import { isTimeZone } from '../base/time/is-time-zone.js';
import { describeValue } from '../base/text/describe-value.js';
import { durationFix, formatDuration, parseDuration } from '../base/text/duration.js';
import { type Reader } from './option-reader.js';
import { didYouMean } from '../base/text/suggest.js';

/** A larger number was hardly meant as seconds. */
const MOST_SECONDS = 100;

/** Takes a duration, and gives its milliseconds. `leastMs` of 0 allows zero. */
export function duration({ leastMs = 1, mostMs = Infinity } = {}): Reader<number> {
  return (value, at) => {
    const ms = parseDuration(value);
    if (ms === undefined)
      return at.refuse(value, "a duration such as 500 (milliseconds), '500ms', '3s' or '5m'", durationFix(value));
    if (ms >= leastMs && ms <= mostMs) return ms;
    const [expected, fix] =
      ms < leastMs
        ? [`at least ${formatDuration(leastMs)}`, raiseFix(value, leastMs)]
        : [`at most ${formatDuration(mostMs)}`, 'lower it'];
    at.note(`must be ${expected}, got ${formatDuration(ms)}: ${fix}`);
    return undefined;
  };
}

/** A small number may have been meant as seconds. */
function raiseFix(value: unknown, leastMs: number): string {
  const isMeantAsSeconds = typeof value === 'number' && value < MOST_SECONDS && 1_000 * value >= leastMs;
  return isMeantAsSeconds ? `a number means milliseconds, write '${value}s' for seconds` : 'raise it';
}

/** Takes `lockExpiry` of the module or a job, or `expiry` of a lock of `LockService`. */
export const expiry = duration({ leastMs: 500, mostMs: 86_400_000 });

/** Takes a duration, or false for never. */
export const durationOrFalse: Reader<number | false> = (value, at) => {
  if (value === false) return value;
  const ms = parseDuration(value);
  if (ms !== undefined && ms > 0) return ms;
  // zero turns things off elsewhere
  const fix = ms === undefined ? durationFix(value) : 'write false for never';
  return at.refuse(value, "a duration such as '8s', or false", fix);
};

export const boolean: Reader<boolean> = (value, at) => {
  if (typeof value === 'boolean') return value;
  const fix = at.isVariable
    ? 'write true or false, or unset it'
    : typeof value === 'string'
      ? `convert the string first, as in process.env.NAME ${value === 'false' ? "!== 'false'" : "=== 'true'"}`
      : 'pass a boolean, or leave the option out';
  return at.refuse(value, 'true or false', fix);
};

/** Takes what passes `is`. */
export function matching<T>(
  is: (value: unknown) => value is T,
  expected: string,
  fix: string | ((value: unknown) => string),
): Reader<T> {
  return (value, at) => (is(value) ? value : at.refuse(value, expected, typeof fix === 'string' ? fix : fix(value)));
}

/** Takes a password, which no message shows. `fix` says what to do instead of a function or a promise. */
export function password(fix: string): Reader<string> {
  return (value, at) => {
    if (typeof value === 'string') return value;
    const isDigits = typeof value === 'bigint' || (typeof value === 'number' && !Number.isNaN(value));
    at.note(`must be a text, got ${isDigits ? 'a number: put it in quotes' : `${describeValue(value)}: ${fix}`}`);
    return undefined;
  };
}

export const timeZone = matching(isTimeZone, 'an IANA time zone', (value) => {
  const fix = "use a name such as 'UTC' or 'Asia/Singapore'";
  return typeof value === 'string' && value !== '' ? didYouMean(value, Intl.supportedValuesOf('timeZone'), fix) : fix;
});
