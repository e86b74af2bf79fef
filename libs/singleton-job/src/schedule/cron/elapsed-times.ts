import { type Next } from './latest-by.js';
import { type LocalCalendar } from './local-calendar.js';
import { REACH_MS, type TimeZone } from './time-zone.js';

const SECOND_MS = 1_000;

// needed for '*/30 2 * 3 0#2' in New York: all its times are in the skipped hour of each year
const MAX_STEPS = 400;

/**
 * The occurrences of a job that follows elapsed time, such as `0 * * * *`, with DST as in Vixie cron. It runs whenever
 * the wall clock shows a matching time: never in a skipped hour, and in both passes of a repeated hour.
 *
 * Between two shifts of the clocks the offset is constant. A shift matters only near the start and near the candidate,
 * so the search checks only those: a shift in between repeats no matching time.
 */
export function elapsedTimes(calendar: LocalCalendar, zone: TimeZone): Next {
  return (previous) => {
    let from = (Math.floor(previous / SECOND_MS) + 1) * SECOND_MS;
    for (let step = 0; step < MAX_STEPS; step++) {
      const offsetMs = zone.offsetAt(from);
      const local = calendar.atOrAfter(from + offsetMs);
      if (local === undefined) return undefined;
      const candidate = local - offsetMs;
      const shift = zone.shiftIn(from, Math.min(candidate, from + REACH_MS));
      if (shift !== undefined) from = shift.at;
      else if (candidate <= from + REACH_MS) return candidate;
      else from = candidate - REACH_MS;
    }
    return undefined;
  };
}
