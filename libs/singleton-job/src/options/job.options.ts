import { type Duration } from '../base/text/duration.js';

/** What happens to a tick that is due while a run of the same job is in flight. */
export type Overlap = 'skip' | 'cancel-other';

/** The options that every job has, with ticks or without. */
interface AnyJobOptions {
  /**
   * The name of the job in keys, logs and `jobs` overrides. No braces, colons, slashes or spaces. Replicas that use different names run
   * two different jobs: if you change the name, both run during a rolling deploy. Required in a class that is named at run time, as by
   * `mixin()`.
   *
   * @default `Class.method`
   */
  readonly name?: string | undefined;

  /**
   * False: the job is checked, but this replica does not compete for it and does not run it.
   *
   * @default true
   */
  readonly enabled?: boolean | undefined;

  /**
   * How long a killed leader keeps the lead. More: it is replaced later. Less: a shorter pause of the process or of Redis costs the
   * lead. From 500 ms to 1 day. A replica sends heartbeats more often if three do not fit into its shortest `lockExpiry`.
   *
   * @default the `lockExpiry` of the module
   */
  readonly lockExpiry?: Duration | undefined;

  /**
   * How long this replica waits after its start until it competes for the job. For a job that needs something which is not ready at
   * start-up. Zero is allowed.
   *
   * @default 0
   */
  readonly initialDelay?: Duration | undefined;
}

/** The options that every job with ticks has. */
export interface JobOptions extends AnyJobOptions {
  /**
   * Aborts the signal of a run that takes longer. More: a stuck run blocks the job for longer. Less: a slow run is aborted. A run that
   * ignores its signal continues, and so do the heartbeats.
   *
   * @default none
   */
  readonly timeout?: Duration | undefined;

  /**
   * Reports a run that takes longer as slow (`runSlow`, a warning in the log), once, and once more if it continues after its abort. The run continues.
   * The report comes up to one `heartbeatInterval` later; a run that ends before it is not reported. More: fewer warnings. Less: a stuck
   * run is noticed sooner. `false`: never.
   *
   * @default the `warnAfter` of the module
   */
  readonly warnAfter?: Duration | false | undefined;
}

/** For jobs with planned ticks, which do not wait for the last run. */
interface PlannedOptions {
  /**
   * What happens to a tick that is due while a run is in flight. `'skip'` drops and reports the tick. `'cancel-other'` aborts the run,
   * waits until it has ended, and then runs the newest tick that came due.
   *
   * @default 'skip'
   */
  readonly overlap?: Overlap | undefined;

  /**
   * Delays each tick by less than this, so that many jobs or many customers do not begin at the same instant. The delay of a tick is
   * computed from the name of the job and the time of the tick, so it is the same on every replica, and less than the distance to the next
   * tick. `run.scheduledAt` is the delayed time. Zero is allowed.
   *
   * @default 0
   */
  readonly jitter?: Duration | undefined;
}

/**
 * Options of `@FixedRate`.
 *
 * @example `@FixedRate('500ms', { name: 'price-tick', overlap: 'cancel-other', offset: '100ms' })`
 */
export interface FixedRateOptions extends JobOptions, PlannedOptions {
  /**
   * Moves the grid of ticks, so that jobs with the same period do not all run at the same instant. Less than the period. Zero is allowed.
   *
   * @default 0
   */
  readonly offset?: Duration | undefined;
}

/**
 * Options of `@Interval`. The delay counts from the end of a run, so there is no `overlap` and no `offset`.
 *
 * @example `@Interval('1s', { name: 'heartbeat', warnAfter: '30s' })`
 */
export type IntervalOptions = JobOptions;

/**
 * Options of `@Cron`.
 *
 * @example `@Cron('0 3 * * *', { name: 'daily-report', timeZone: 'Asia/Singapore', timeout: '5m' })`
 */
export interface CronOptions extends JobOptions, PlannedOptions {
  /**
   * IANA name of the time zone of the expression.
   *
   * @default the `timeZone` of the module
   */
  readonly timeZone?: string | undefined;

  /**
   * How late an occurrence may still start, for example after an outage. More: it runs after a longer outage. Less: it is reported as
   * missed sooner. Zero: a late occurrence never runs.
   *
   * @default the `misfireGrace` of the module
   */
  readonly misfireGrace?: Duration | undefined;
}

/**
 * Options of `@WhileLeader`. A call lasts as long as the leadership, so there is no `timeout` and no `warnAfter`.
 *
 * @example `@WhileLeader('order-feed', { restartDelay: '5s' })`
 */
export interface WhileLeaderOptions extends AnyJobOptions {
  /**
   * From the end of a call to the next one, while this replica leads. After each throw in a row it doubles, up to 30 s or this delay.
   *
   * @default '1s'
   */
  readonly restartDelay?: Duration | undefined;
}

/**
 * The options of a job that `jobs` of the module may change: all but its name and its kind.
 *
 * @example `jobs: { 'daily-report': { cron: '0 4 * * *', lockExpiry: '60s' } }`
 */
export interface JobOverrides
  extends Omit<FixedRateOptions, 'name'>, Omit<CronOptions, 'name'>, Omit<WhileLeaderOptions, 'name'> {
  /** The period of a fixed-rate job. */
  readonly period?: Duration | undefined;
  /** The delay of an interval job. */
  readonly delay?: Duration | undefined;
  /** The expression of a cron job. */
  readonly cron?: string | undefined;
}
