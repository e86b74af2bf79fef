import { type IntervalSchedule } from './schedule.js';

/** A pause of `delayMs` after the end of each run. */
export function interval(delayMs: number): IntervalSchedule {
  return Object.freeze({
    kind: 'interval' as const,
    description: `interval ${delayMs}ms`,
    delayMs,
    next: (previous: number) => previous + delayMs,
  });
}
