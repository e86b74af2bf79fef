import { formatDuration } from '../base/text/duration.js';
import { type FixedRateSchedule, InvalidScheduleError } from './schedule.js';

/**
 * A grid of ticks at `offsetMs + n × periodMs` since the epoch. Every replica has the same slots. `offsetMs` moves the
 * whole grid, by 0 or more and by less than one period.
 *
 * @throws InvalidScheduleError for an offset that is not less than the period
 */
export function fixedRate(periodMs: number, offsetMs = 0): FixedRateSchedule {
  if (offsetMs >= periodMs) {
    const expected = `less than the period (${formatDuration(periodMs)})`;
    const fix = 'take what remains after division by the period';
    throw new InvalidScheduleError(`offset must be ${expected}, got ${formatDuration(offsetMs)}: ${fix}`);
  }

  const latest = (upTo: number): number => offsetMs + Math.floor((upTo - offsetMs) / periodMs) * periodMs;

  return Object.freeze({
    kind: 'fixed-rate' as const,
    summary: `every ${formatDuration(periodMs)}`,
    description: `fixed-rate ${periodMs}ms offset ${offsetMs}ms`,
    periodMs,
    offsetMs,
    latest,
    next: (previous: number) => latest(previous) + periodMs,
  });
}
