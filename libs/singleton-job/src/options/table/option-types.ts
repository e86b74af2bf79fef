import { durationFix } from '../../advice/durations.js';
import { timeZoneFix } from '../../advice/time-zones.js';
import { formatDuration, parseDuration } from '../../base/text/duration.js';
import { isTimeZone } from './is-time-zone.js';
import { type OptionType, type Place, type Reader } from './option-table.js';

/** A larger number was hardly meant as seconds. */
const MAX_SECONDS = 99;

/** Undefined: it is no duration, or a number that may be meant as seconds. That is noted. */
function readDuration(value: unknown, place: Place, expected: string): number | undefined {
  const ms = parseDuration(value);
  if (ms === undefined) return place.refuse(value, expected, durationFix(value));
  if (typeof value !== 'number' || ms < 1 || ms > MAX_SECONDS) return ms;
  place.note(`must have a unit, got ${ms}: a number means milliseconds, write '${ms}s' for seconds or '${ms}ms'`);
  return undefined;
}

/** Takes a duration, and gives its milliseconds. `minMs` of 0 allows zero. */
export function duration({ minMs = 1, maxMs = Infinity } = {}): OptionType<number, 'duration'> {
  return {
    name: minMs > 1 ? `duration from ${formatDuration(minMs)}` : 'duration',
    variable: 'duration',
    read: (value, place) => {
      const ms = readDuration(value, place, "a duration such as 500 (milliseconds), '500ms', '3s' or '5m'");
      if (ms === undefined) return undefined;
      const isShort = ms < minMs;
      if (!isShort && ms <= maxMs) return ms;
      const expected = isShort ? `at least ${formatDuration(minMs)}` : `at most ${formatDuration(maxMs)}`;
      place.note(`must be ${expected}, got ${formatDuration(ms)}: ${isShort ? 'raise it' : 'lower it'}`);
      return undefined;
    },
  };
}

/** A duration, or false for never. */
export const durationOrFalse: OptionType<number | false, 'duration'> = {
  name: 'duration or `false`',
  variable: 'duration',
  read: (value, place) => {
    if (value === false) return value;
    const expected = "a duration such as '8s', or false";
    const ms = readDuration(value, place, expected);
    // zero turns things off elsewhere
    return ms !== undefined && ms <= 0 ? place.refuse(value, expected, 'write false for never') : ms;
  },
};

export const boolean: OptionType<boolean, 'boolean'> = {
  name: 'boolean',
  variable: 'boolean',
  read: (value, place) => {
    if (typeof value === 'boolean') return value;
    const isText = typeof value === 'string' && place.variable === undefined;
    const fix = isText
      ? "convert the string first, as in process.env.NAME === 'true'"
      : 'write one of them, or leave it out';
    return place.refuse(value, 'true or false', fix);
  },
};

/** Takes what passes `is`. */
export function matching<T>(
  is: (value: unknown) => value is T,
  expected: string,
  fix: string | ((value: unknown) => string),
): Reader<T> {
  return (value, place) =>
    is(value) ? value : place.refuse(value, expected, typeof fix === 'string' ? fix : fix(value));
}

/** A text of some form. */
export function text<T extends string>(...rule: Parameters<typeof matching<T>>): OptionType<T, 'text'> {
  return { name: 'text', variable: 'text', read: matching(...rule) };
}

/** What only code can give. */
export function fromCode<T>(name: string, read: Reader<T>): OptionType<T, 'none'> {
  return { name, variable: 'none', read };
}

const isSignal = (value: unknown): value is AbortSignal => value instanceof AbortSignal;

export const abortSignal = fromCode('signal', matching(isSignal, 'an AbortSignal', 'pass controller.signal'));

export const timeZone = text(isTimeZone, 'an IANA time zone', timeZoneFix);
