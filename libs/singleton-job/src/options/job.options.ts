import { type Duration } from './duration.js';

/** What happens to a tick that is due while a run of the same job is in flight. */
export type Overlap = 'skip' | 'cancel-other';

/** The options that every job has. */
export interface JobOptions {
  /**
   * Its name in keys, logs and `jobs` overrides. Names are protocol: replicas that know a job by another name run it as
   * another job, so a new name means that both run during a rolling deploy. No braces, colons, slashes or spaces.
   *
   * @default `Class.method`
   */
  readonly name?: string | undefined;

  /**
   * False: the job is checked but neither elected for nor run on this replica.
   *
   * @default true
   */
  readonly enabled?: boolean | undefined;

  /** The same the other way round, as `@nestjs/schedule` has it. */
  readonly disabled?: boolean | undefined;

  /**
   * How long a leader that was killed keeps the lead. More: it is replaced later. Less: a shorter pause of the process or
   * of Redis costs the leadership. From 500 ms to 1 day. The shortest `lockExpiry` of a replica makes all its heartbeats
   * more frequent, if three of the module's do not fit into it.
   *
   * @default the `lockExpiry` of the module
   */
  readonly lockExpiry?: Duration | undefined;

  /**
   * Aborts the signal of a run that takes longer. More: a stuck run holds the job up for longer. Less: a slow one is
   * cut off. A run that ignores its signal goes on, and so do the heartbeats.
   *
   * @default none
   */
  readonly timeout?: Duration | undefined;

  /**
   * Reports a run that takes longer as slow (`runSlow`, a warning in the log), and again each time its age has doubled. The run
   * goes on. It is noticed within one `heartbeatInterval`; a run that ends before is not reported. More: fewer warnings. Less: a
   * stuck run is noticed sooner. `false`: never, for a job whose run lasts as long as its replica leads.
   *
   * @default the `warnAfter` of the module
   */
  readonly warnAfter?: Duration | false | undefined;

  /**
   * From the start of this replica until it competes for the job, for what is not ready at start-up. Zero is allowed.
   *
   * @default 0
   */
  readonly initialDelay?: Duration | undefined;

  /** Accepted for classes that come from `@nestjs/schedule`: here a job never overlaps with itself. See `overlap`. */
  readonly waitForCompletion?: true | undefined;
}

/** For jobs whose ticks do not wait for the run before. */
interface OverlapOption {
  /**
   * What becomes of a tick that is due while a run is in flight. `'skip'` drops and reports it. `'cancel-other'` aborts
   * the run in flight, waits for it to settle, and then runs the newest tick that was due meanwhile.
   *
   * @default 'skip'
   */
  readonly overlap?: Overlap | undefined;
}

/**
 * Options of `@FixedRate`.
 *
 * @example `@FixedRate('500ms', { name: 'price-tick', overlap: 'cancel-other', offset: '100ms' })`
 */
export interface FixedRateOptions extends JobOptions, OverlapOption {
  /**
   * Moves the grid of ticks, which starts at the epoch, so that jobs of one period do not all run at the same instant.
   * Zero is allowed.
   *
   * @default 0
   */
  readonly offset?: Duration | undefined;
}

/**
 * Options of `@Interval`. It is counted from the end of a run, so it has neither `overlap` nor `offset`.
 *
 * @example `@Interval('1s', { name: 'heartbeat', warnAfter: '30s' })`
 */
export type IntervalOptions = JobOptions;

/**
 * Options of `@Cron`.
 *
 * @example `@Cron('0 3 * * *', { name: 'daily-report', timeZone: 'Asia/Singapore', timeout: '5m' })`
 */
export interface CronOptions extends JobOptions, OverlapOption {
  /**
   * IANA name of the zone that the expression is read in.
   *
   * @default the `timeZone` of the module
   */
  readonly timeZone?: string | undefined;

  /**
   * How late an occurrence may still start, after a time without a leader, or with a leader that was stuck. More: it runs after a longer
   * outage. Less: it is rather reported as missed. Zero: a late occurrence never runs.
   *
   * @default the `misfireGrace` of the module
   */
  readonly misfireGrace?: Duration | undefined;
}

/**
 * What the module's `jobs` may change in a job: everything but its name and its kind.
 *
 * @example `jobs: { 'daily-report': { cron: '0 4 * * *', lockExpiry: '60s' } }`
 */
export interface JobOverrides
  extends Omit<FixedRateOptions, 'name' | 'waitForCompletion'>, Omit<CronOptions, 'name' | 'waitForCompletion'> {
  /** The period of a fixed-rate job. */
  readonly period?: Duration | undefined;
  /** The delay of an interval job. */
  readonly delay?: Duration | undefined;
  /** The expression of a cron job. */
  readonly cron?: string | undefined;
}
