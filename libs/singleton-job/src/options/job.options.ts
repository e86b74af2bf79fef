import { type Duration } from '../base/text/duration.js';

/** The options that every job has, with ticks or without. */
interface AnyJobOptions {
  /**
   * The name in keys, logs and overrides. A new name is a new job: during a rolling deploy both run.
   *
   * No braces, colons, slashes or spaces. Required in a class that is named at run time, as by `mixin()`.
   *
   * @default `Class.method`
   * @see docs/writing-jobs.md#where-jobs-can-be
   */
  readonly name?: string | undefined;

  /**
   * `false`: this replica checks the job and never runs it.
   *
   * It does not compete for the job.
   *
   * @default true
   */
  readonly enabled?: boolean | undefined;

  /**
   * As for the module. Below 3 × `heartbeatInterval` (9 s by default), all heartbeats of the replica come every quarter
   * of this value.
   *
   * More: a killed leader is replaced later. Less: a shorter pause of the process or of the store costs the lead. From
   * 500 ms to 1 day.
   *
   * @default that of the module
   */
  readonly lockExpiry?: Duration | undefined;

  /**
   * How long after its start a replica waits before it competes for the job.
   *
   * For a job that needs something which is not ready at start-up. Zero is allowed.
   *
   * @default 0
   */
  readonly initialDelay?: Duration | undefined;
}

/** The options of every job whose runs end by themselves. */
export interface JobOptions extends AnyJobOptions {
  /**
   * The longest time of a run. Then its signal is aborted.
   *
   * More: a stuck run blocks the job for longer. Less: a slow run is aborted. A run that ignores its signal continues,
   * and so do the heartbeats.
   */
  readonly timeout?: Duration | undefined;

  /**
   * As for the module.
   *
   * Reports a run that takes longer as slow (`runSlow`, a warning in the log), once, and once more if it continues
   * after its abort. The run continues. The report comes up to 250 ms later; a run that ends before it is not
   * reported. More: fewer warnings. Less: a stuck run is noticed sooner. `false`: never.
   *
   * @default that of the module
   */
  readonly warnAfter?: Duration | false | undefined;
}

/** For jobs that may run once, when their first leader begins or per version. */
interface FirstRunOptions {
  /**
   * `'now'`: a job that never ran on any replica runs when its first leader begins.
   *
   * The run has the cause `first-run`. It is claimed, so it starts at most once, unless the store loses its data.
   *
   * @see docs/schedules.md#first-run
   */
  readonly firstRun?: 'now' | undefined;

  /**
   * With `firstRun` or `@Once`: the job also runs once on all replicas when this text is new, such as after a deploy.
   *
   * The record of the job keeps the last ten, so a replica of the version before does not run its own again.
   *
   * @see docs/schedules.md#first-run
   */
  readonly version?: string | undefined;
}

/** For jobs with planned ticks, which do not wait for the last run. */
interface PlannedOptions {
  /**
   * `'skip'` drops a tick that is due during a run, `'cancel-other'` aborts the run.
   *
   * A dropped tick is reported. `'cancel-other'` waits until the run has ended, and then runs the newest tick that came
   * due.
   *
   * @default 'skip'
   * @see docs/schedules.md#overlap
   */
  readonly overlap?: 'skip' | 'cancel-other' | undefined;

  /**
   * Delays each tick by less than this.
   *
   * Many jobs, or the jobs of many customers, then do not begin at the same instant. The delay of a tick is computed
   * from the name of the job and the time of the tick, so it is the same on every replica, and less than the distance
   * to the next tick. `run.scheduledAt` is the delayed time. Zero is allowed.
   *
   * @default 0
   * @see docs/schedules.md#jitter
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
   * Moves the grid of ticks. Less than the period.
   *
   * Jobs with the same period then do not all run at the same instant. Zero is allowed.
   *
   * @default 0
   * @see docs/schedules.md#fixed-rate
   */
  readonly offset?: Duration | undefined;
}

/**
 * Options of `@Interval`. The delay counts from the end of a run, so there is no `overlap` and no `offset`.
 *
 * @example `@Interval('1s', { name: 'heartbeat', warnAfter: '30s' })`
 */
export interface IntervalOptions extends JobOptions, FirstRunOptions {}

/**
 * Options of `@Cron`.
 *
 * @example `@Cron('0 3 * * *', { name: 'daily-report', timeZone: 'Asia/Singapore', timeout: '5m' })`
 */
export interface CronOptions extends JobOptions, PlannedOptions, FirstRunOptions {
  /**
   * The IANA time zone of the expression.
   *
   * @default that of the module
   */
  readonly timeZone?: string | undefined;

  /**
   * As for the module.
   *
   * How late an occurrence may still start, for example after an outage. More: it runs after a longer outage. Less: it
   * is reported as missed sooner. Zero: a late occurrence never runs.
   *
   * @default that of the module
   */
  readonly misfireGrace?: Duration | undefined;

  /**
   * Decides whether an occurrence runs, such as on every second week.
   *
   * The leader calls it with the time of the occurrence, right before it would start. An occurrence that is left out
   * does not count as missed (`occurrenceSkipped`). If the function throws, it is asked again each second until
   * `misfireGrace` is over. It is not asked for a triggered run, a first run, or what no replica started in time.
   *
   * @see docs/schedules.md#only
   */
  readonly only?: ((date: Date) => boolean | Promise<boolean>) | undefined;
}

/**
 * Options of `@WhileLeader`. A call lasts as long as the leadership, so there is no `timeout` and no `warnAfter`.
 *
 * @example `@WhileLeader('order-feed', { restartDelay: '5s' })`
 */
export interface WhileLeaderOptions extends AnyJobOptions {
  /**
   * From the end of a call to the next one.
   *
   * It counts while this replica leads. After each throw in a row it doubles, up to 30 s or this delay.
   *
   * @default '1s'
   * @see docs/schedules.md#while-leader
   */
  readonly restartDelay?: Duration | undefined;
}

/**
 * Options of `@Once`.
 *
 * @example `@Once('warm-up', { version: process.env.APP_VERSION ?? 'dev', timeout: '5m' })`
 */
export interface OnceOptions extends JobOptions, Pick<FirstRunOptions, 'version'> {}

/**
 * The options of a job that `jobs` of the module may change: all but its name, its kind and `only`.
 *
 * @example `jobs: { 'daily-report': { cron: '0 4 * * *', lockExpiry: '60s' } }`
 */
export interface JobOverrides
  extends Omit<FixedRateOptions, 'name'>, Omit<CronOptions, 'name' | 'only'>, Omit<WhileLeaderOptions, 'name'> {
  /** The period of a fixed-rate job. */
  readonly period?: Duration | undefined;
  /** The delay of an interval job. */
  readonly delay?: Duration | undefined;
  /** The expression of a cron job. */
  readonly cron?: string | undefined;
}
