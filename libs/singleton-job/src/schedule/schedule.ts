import { SingletonJobError } from '../base/errors/singleton-job.error.js';
import { type ScheduleKind } from '../base/events/run-info.js';

/**
 * Computes when the next tick is due. A schedule holds no state and reads no clock: the same arguments give the same
 * result on every replica, at any time.
 */
interface Schedule {
  readonly kind: ScheduleKind;

  /** For the list of jobs in the log: `every 500ms`. */
  readonly summary: string;

  /**
   * Kind, expression and zone in one readable line: `cron 0 3 * * * UTC`. A new leader compares it with that of the
   * last leader.
   */
  readonly description: string;

  /**
   * The first tick after this time; for an interval, the tick after a run that ended then. Undefined: there is none.
   * Milliseconds since the epoch, or for an interval by any one clock, by which the result is too.
   */
  next(previous: number): number | undefined;
}

/** Ticks at multiples of a period since the epoch. */
export interface FixedRateSchedule extends Schedule {
  readonly kind: 'fixed-rate';
  readonly periodMs: number;
  /** Of the grid: from 0 to less than one period. A tick may be later, by a jitter of less than a period. */
  readonly offsetMs: number;
  next(previous: number): number;
  /** The newest tick at or before `upTo`. */
  latest(upTo: number): number;
}

/** A delay after the end of each run. */
export interface IntervalSchedule extends Schedule {
  readonly kind: 'interval';
  readonly delayMs: number;
  next(previous: number): number;
}

/** Occurrences of a cron expression in a time zone. */
export interface CronSchedule extends Schedule {
  readonly kind: 'cron';
  /** The six fields as they were written, seconds first. */
  readonly fields: readonly string[];
  readonly timeZone: string;
  /** The newest occurrence at or before `upTo`; undefined if there never was one. */
  latest(upTo: number): number | undefined;
}

/** No ticks: a run lasts as long as the leadership. */
export interface WhileLeaderSchedule extends Schedule {
  readonly kind: 'while-leader';
  /** From the end of a run to the start of the next one, while the leadership lasts. */
  readonly restartDelayMs: number;
}

/** No ticks: one run of all replicas, ever or per version of the job. */
export interface OnceSchedule extends Schedule {
  readonly kind: 'once';
}

/** All kinds, distinguished by `kind`. */
export type AnySchedule = FixedRateSchedule | IntervalSchedule | CronSchedule | WhileLeaderSchedule | OnceSchedule;

/**
 * A schedule that cannot be built. The message says what was expected, what was given, and the fix. It follows the
 * place of the mistake: `Prices.report: cron expression must have …`.
 */
export class InvalidScheduleError extends SingletonJobError {
  readonly code = 'INVALID_SCHEDULE';
}
