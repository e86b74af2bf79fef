import { type FixedRateSchedule } from './schedule.js';

interface Grid {
  /** Moves the whole grid: from 0 to less than one period. @default 0 */
  readonly offsetMs?: number;
}

/** A grid of ticks at `offsetMs + n × periodMs` since the epoch. Every replica has the same slots. */
export function fixedRate(periodMs: number, { offsetMs = 0 }: Grid = {}): FixedRateSchedule {
  function latest(upTo: number): number {
    const whole = Math.floor(upTo);
    const sinceTick = (whole - offsetMs) % periodMs;
    // the remainder of a negative number is negative, so the tick before it is one period earlier
    return whole - (sinceTick < 0 ? sinceTick + periodMs : sinceTick);
  }

  return Object.freeze({
    kind: 'fixed-rate' as const,
    description: `fixed-rate ${periodMs}ms offset ${offsetMs}ms`,
    periodMs,
    offsetMs,
    latest,
    next: (previous: number) => latest(previous) + periodMs,
  });
}
