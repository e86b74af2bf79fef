import { type Next } from './latest-by.js';
import { type LocalCalendar } from './local-calendar.js';
import { REACH_MS, type TimeZone } from './time-zone.js';

const SECOND_MS = 1_000;

/**
 * The occurrences of a job with fixed times of the day, such as `30 2 * * *`, with DST as in Vixie cron. Each local
 * time counts once, at the first instant at which the wall clock shows it or a later time:
 *
 * - A skipped time comes at the instant of the shift. Several that are skipped together are one occurrence.
 * - A repeated time comes in the first pass only.
 *
 * The search relies on one fact: the latest time that the wall clock has ever shown never goes back.
 */
export function fixedTimes(calendar: LocalCalendar, zone: TimeZone): Next {
  /** The latest local second that the wall clock has shown by the end of the second of `instant`. */
  function latestShown(instant: number): number {
    const second = Math.floor(instant / SECOND_MS) * SECOND_MS;
    const shift = zone.shiftIn(second - REACH_MS, second);
    const local = second + zone.offsetAt(second);
    return shift === undefined ? local : Math.max(local, shift.at - SECOND_MS + shift.beforeMs);
  }

  /** The first instant at which the wall clock shows `local` or a later time. */
  function firstShown(local: number): number {
    const shift = zone.shiftIn(local - REACH_MS, local + REACH_MS);
    if (shift === undefined) return local - zone.offsetAt(local);
    const before = local - shift.beforeMs;
    return before < shift.at ? before : Math.max(local - shift.afterMs, shift.at);
  }

  return (previous) => {
    const local = calendar.atOrAfter(latestShown(previous) + SECOND_MS);
    return local === undefined ? undefined : firstShown(local);
  };
}
