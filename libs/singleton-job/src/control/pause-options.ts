import { durationFix } from '../advice/durations.js';
import { asTextFix } from '../advice/values.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type Duration, parseDuration } from '../base/text/duration.js';
import { type WantedPause } from '../commands/pause-edit.js';
import { type OptionRow, readCallOptions, type Reader } from '../options/table/option-table.js';
import { duration, fromCode } from '../options/table/option-types.js';

/**
 * Options of a pause.
 *
 * @example `await jobs.pause('daily-report', { until: '2h', reason: 'the archive moves' });`
 */
export interface PauseOptions {
  /**
   * When the pause ends by itself, by the clock of the store: a time, or how long from now on, ten years at most.
   *
   * @default it lasts until it is ended
   */
  readonly until?: Date | Duration | undefined;
  /**
   * Why, 200 characters at most. It is shown wherever the pause is: in the status, events, metrics and the log.
   *
   * @default none
   */
  readonly reason?: string | undefined;
}

const MAX_REASON_LENGTH = 200;
/** So that a date in milliseconds since 1970, taken for a duration, is refused. */
const MAX_PAUSE_MS = 3_650 * 86_400_000;
const PERIOD = duration({ maxMs: MAX_PAUSE_MS });

function readUntil(now: number): Reader<number> {
  return (value, place) => {
    const expected = "a Date within the next ten years, or a duration such as '2h'";
    if (parseDuration(value) !== undefined) {
      const period = PERIOD.read(value, place);
      return period === undefined ? undefined : now + period;
    }
    if (!(value instanceof Date)) return place.refuse(value, expected, durationFix(value));
    const ms = value.getTime() - now;
    if (ms > 0 && ms <= MAX_PAUSE_MS) return value.getTime();
    const shown = Number.isNaN(ms) ? 'an invalid Date' : value.toISOString();
    place.note(`must be ${expected}, got ${shown}: look where it is made`);
    return undefined;
  };
}

/** On one line, as the log shows it. */
const readReason: Reader<string> = (value, place) => {
  if (typeof value === 'string' && value.length <= MAX_REASON_LENGTH)
    return value.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim() || undefined;
  return place.refuse(value, `a text of at most ${MAX_REASON_LENGTH} characters`, asTextFix(value) ?? 'shorten it');
};

/**
 * What a caller of `whose` has given, checked at a time of the store.
 *
 * @throws InvalidOptionsError with every mistake
 */
export function readPause(options: unknown, whose: string, now: number): WantedPause {
  const table = {
    until: { type: fromCode('until', readUntil(now)) },
    reason: { type: fromCode('reason', readReason) },
  } as const satisfies Record<keyof PauseOptions, OptionRow>;
  const problems: string[] = [];
  const wanted = readCallOptions(table, options, problems, { fix: "write { until: '2h' }" });
  if (problems.length > 0) throw new InvalidOptionsError(problems, { title: `${whose} cannot use these options` });
  return wanted;
}
