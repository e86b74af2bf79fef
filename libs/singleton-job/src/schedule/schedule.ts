import { createHash } from 'node:crypto';
import { type ScheduleKind } from '../events/index.js';

/**
 * Says when the next tick is, and nothing else. A schedule holds no state and reads no clock: the same question has the
 * same answer on every replica, whenever it is asked.
 */
interface Schedule {
  readonly kind: ScheduleKind;

  /** Kind, expression and zone in one line, for people: `cron 0 3 * * * UTC`. */
  readonly description: string;

  /** Kind, and hash of the description, as `cron:1f2e…`: a leader sees from it whether its predecessor had another schedule. */
  readonly fingerprint: string;

  /**
   * The first tick after `previous`, in milliseconds of the clock that the kind is counted on: since the epoch for a
   * fixed rate and for cron, monotonic for an interval. `previous` is a tick or, for an interval, the end of a run.
   * Undefined when there is none any more.
   */
  next(previous: number): number | undefined;
}

/** Ticks at multiples of a period since the epoch. */
export interface FixedRateSchedule extends Schedule {
  readonly kind: 'fixed-rate';
  readonly periodMs: number;
  next(previous: number): number;
  /** The newest tick at or before `instant`. */
  latest(instant: number): number;
}

/** A pause after the end of each run. */
export interface IntervalSchedule extends Schedule {
  readonly kind: 'interval';
  readonly delayMs: number;
  next(previous: number): number;
}

/** Occurrences of a cron expression in a time zone. */
export interface CronSchedule extends Schedule {
  readonly kind: 'cron';
  readonly timeZone: string;
  /** The newest occurrence in (`after`, `upTo`]; undefined if there is none. Cheap however long the window is. */
  latest(after: number, upTo: number): number | undefined;
  /** How many occurrences lie in (`after`, `upTo`]; counting stops at `limit`. */
  count(after: number, upTo: number, limit: number): number;
}

/** The three kinds, distinguished by `kind`. */
export type AnySchedule = FixedRateSchedule | IntervalSchedule | CronSchedule;

/** The fields by which people and other replicas recognize a schedule. */
export function identify<K extends ScheduleKind>(
  kind: K,
  description: string,
): Pick<Schedule, 'description' | 'fingerprint'> & { readonly kind: K } {
  const hash = createHash('sha256').update(description).digest('hex').slice(0, 16);
  return { kind, description, fingerprint: `${kind}:${hash}` };
}
