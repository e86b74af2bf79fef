import { formatDuration } from '../base/text/duration.js';
import { type IntervalSchedule } from './schedule.js';

/** A pause of `delayMs` after the end of each run. */
export function interval(delayMs: number): IntervalSchedule {
  return Object.freeze({
    kind: 'interval' as const,
    summary: `${formatDuration(delayMs)} after each run`,
    description: `interval ${delayMs}ms`,
    delayMs,
    next: (previous: number) => previous + delayMs,
  });
}
