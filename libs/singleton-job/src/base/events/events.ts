import { type RunAbortedError } from '../errors/run.errors.js';
import { type StoreError } from '../errors/store.error.js';
import { type RunInfo } from './run-info.js';

/**
 * Every event of the library and its payload. Names are in the past tense. Each replica reports only its own events.
 * A lock of `LockService` has only `requestDenied` and the warning `RUNNER_FAILED`: both name it `lock/…`.
 *
 * To add an event, add it here, add a row to `docs/observability.md`, then run `npm run api`.
 */
export interface JobEvents {
  /**
   * This replica leads the job from now on. `after` is the last leader that it knows of, and may be this replica. Not
   * called again while the term is renewed.
   */
  leadershipGained: Pick<RunInfo, 'job' | 'fencingToken'> & {
    /**
     * How this replica became the leader, as far as it knows: `first`, there was no data yet; `released`, the last
     * leader released the job; `lease-ended`, the last leader was killed or could not reach the store: it may have been
     * this replica; `free`, there was no record of the job, which is new or was lost.
     */
    readonly because: 'first' | 'released' | 'lease-ended' | 'free';
    /** The last leader that this replica knows of. */
    readonly after?: string;
  };

  /**
   * This replica lost the leadership. The signal of a run in flight fires at the same time. Not called for a release,
   * nor for a take that was confirmed too late to start a term.
   */
  leadershipLost: Pick<RunInfo, 'job' | 'fencingToken'> & {
    /**
     * `expired`: the lease was not confirmed before its deadline. `preempted`: its record names another holder or none,
     * or cannot be read.
     */
    readonly reason: 'expired' | 'preempted';
  };

  /**
   * This replica released a term. Unless `runInFlight`, the run had ended. Not called for a term that was lost before.
   *
   * `confirmed` is false when the store did not answer. It is also false with `runInFlight`: a run that ignores its
   * abort still runs when the connections are closed. In both cases the lease ends by itself.
   */
  leadershipReleased: Pick<RunInfo, 'job' | 'fencingToken'> & {
    /**
     * Why the term was released: the application stops, the runner broke, three calls of a `@WhileLeader` method in a
     * row failed (`failed-calls`), a method of the registry was called, or a replica that leads fewer jobs takes the
     * job (`rebalance`).
     */
    readonly reason:
      'shutdown' | 'runner-failed' | 'failed-calls' | 'paused' | 'stepped-down' | 'unregistered' | 'rebalance';
    /** Whether the store confirmed it. False: the lease ends by itself. */
    readonly confirmed: boolean;
    /** Whether a run that ignored its abort is still in flight. */
    readonly runInFlight: boolean;
  };

  /** The store has answered a heartbeat of this replica, whether it leads a job or not. */
  heartbeatAnswered: {
    /** From the request until its answer, in milliseconds. */
    readonly roundTripMs: number;
    /** How far the clock of the store is ahead of this replica's, in milliseconds. It is exact to half a round trip. */
    readonly clockOffsetMs: number;
  };

  /**
   * Another replica leads the job, and this one follows it. Not called again for the same leader unless this replica
   * led meanwhile, nor if no replica leads.
   */
  leaderChanged: Pick<RunInfo, 'job'> & {
    /** The replica that leads. */
    readonly leader: string;
  };
  /**
   * The job is paused on all replicas, or all jobs are. Each replica that competes for it reports that, and once more
   * if the same pause gets another end or reason.
   */
  jobPaused: Pick<RunInfo, 'job'> & {
    /** What is paused: this job by `pause()`, or all jobs by `pauseAll()`. Each has a begin and an end of its own. */
    readonly scope: 'job' | 'all';
    /** Since when, by the clock of the store. */
    readonly pausedAt: Date;
    /** When it ends by itself, by the clock of the store. Left out: it does not. */
    readonly pausedUntil?: Date;
    /** Why, in the words of the caller. Left out: none was given. */
    readonly pauseReason?: string;
  };
  /**
   * The pause that `jobPaused` reported is over. Not called where old data show an older pause: then `jobPaused` is
   * called again.
   */
  jobResumed: JobEvents['jobPaused'] & {
    /** Whether a caller ended the pause, its `until` has come, or the store lost its data, and with it the pause. */
    readonly reason: 'resumed' | 'expired' | 'data-lost';
  };

  /** A run begins. The job is called next, if its lease still holds. Not called for a tick that was dropped. */
  runStarted: RunInfo;
  /**
   * The job returned, also if its signal had fired. Not called before the job returns, also if it ignores its signal.
   */
  runSucceeded: RunInfo & {
    /** From the start of the run until it ended, in milliseconds. */
    readonly durationMs: number;
    /** Why its signal had fired, if it had. With `TIMEOUT` the log warns. */
    readonly abortCode?: RunAbortedError['code'];
  };
  /** The job threw or rejected. Not called if its signal had fired before: that is `runCancelled`. */
  runFailed: RunInfo & {
    /** From the start of the run until it ended, in milliseconds. */
    readonly durationMs: number;
    /** What the job threw. */
    readonly error: unknown;
  };
  /**
   * The job threw or rejected after its signal had fired, or after `assertLeader()` had thrown. Not called when the
   * signal fires, nor if the job returns in spite of it. No other replica starts a cron occurrence that was cancelled:
   * its claim stays.
   *
   * Also called if the lease ended before the job was called, because an observer or an interceptor took too long. Then
   * the job is not called.
   */
  runCancelled: RunInfo & {
    /** From the start of the run until it ended, in milliseconds. */
    readonly durationMs: number;
    /** Why the run was aborted. */
    readonly code: RunAbortedError['code'];
  };
  /**
   * A run has taken longer than `warnAfter` and continues: no other run of the job starts on this replica until it
   * ends. Called once for each such run. With an `abortCode` the run continues a second after its signal has fired for
   * that reason: called once more for that. Not called where `warnAfter` is false.
   */
  runSlow: RunInfo & {
    /** How long the run has taken so far, in milliseconds. */
    readonly elapsedMs: number;
    /** The `warnAfter` of the job, in milliseconds. 10 s for `@WhileLeader`, counted from its abort. */
    readonly warnAfterMs: number;
    /** Why its signal has fired, if it has. */
    readonly abortCode?: RunAbortedError['code'];
  };

  /**
   * The leader did not start `count` ticks. The newest was due at `scheduledAt`. Not called for an interval, which has
   * no tick while it runs. Not called for ticks without a leader: those of a cron job are `occurrencesMissed`.
   *
   * If the leader is lost before it has written that, within 10 s, the next leader runs a dropped cron tick, or reports
   * it once more, as `occurrencesMissed`.
   */
  tickDropped: Pick<RunInfo, 'job' | 'kind'> & {
    /**
     * Why the ticks were dropped:
     *
     * - `overlap`: a run was in flight;
     * - `late`: the event loop was blocked, and a newer tick was due as well;
     * - `lease-unconfirmed`: the clocks disagreed, and no heartbeat had been confirmed since.
     */
    readonly reason: 'overlap' | 'late' | 'lease-unconfirmed';
    /** When the newest of them was due. */
    readonly scheduledAt: Date;
    /** How many ticks were dropped. */
    readonly count: number;
  };

  /**
   * The option `only` of a cron job has left an occurrence out. Not called for one that no replica started in time:
   * `only` is not asked then.
   */
  occurrenceSkipped: Pick<RunInfo, 'job' | 'scheduledAt'>;

  /**
   * No replica will start the cron occurrences after `from` and up to `to`. One replica reports them. The next leader
   * reports them again if this one is lost before it has written that, within 10 s. Not called for a tick that the
   * leader dropped, nor for other kinds of schedule.
   */
  occurrencesMissed: Pick<RunInfo, 'job'> & {
    /**
     * Why they were not started:
     *
     * - `late`: no replica led, or the leader was blocked or suspended, until the misfire grace was over or a newer
     *   occurrence was due as well;
     * - `data-lost`: they came due before the store restarted or lost its data, and are not claimed. Their claims may
     *   be lost;
     * - `schedule-changed`: they are older than a new schedule. They are those of the schedule before it, and are not
     *   reported if that had a jitter.
     */
    readonly reason: 'late' | 'data-lost' | 'schedule-changed';
    /** They are all later than this. */
    readonly from: Date;
    /** When the newest of them was due. */
    readonly to: Date;
    /** How many there are, at most 1000. */
    readonly count: number;
  };

  /**
   * The last leader of this job ended in a run whose start was written: it crashed, was killed or lost its lease. The
   * run may have done a part of its work, and may still be going on there. The next leader reports it once. Starts are
   * written at once for cron, triggers, first runs, `@Once` and intervals above 10 s; for others when the run has
   * lasted 10 s.
   */
  runInterrupted: Pick<RunInfo, 'job'> & {
    /** When the run began, by the clock of the store. */
    readonly startedAt: Date;
    /** The replica that ran it. */
    readonly by: string;
    /** The cron occurrence that it ran for. Null: it was triggered, or is of another kind. */
    readonly occurrence: Date | null;
  };

  /**
   * A second after the application began to stop, or halfway to the abort if that is sooner, this run is still in
   * flight. Called once for each such run.
   */
  shutdownDelayed: RunInfo & {
    /** How long the run has taken so far, in milliseconds. */
    readonly elapsedMs: number;
    /** When its signal fires at the latest, in milliseconds from now. 0: it has fired. */
    readonly abortInMs: number;
  };

  /**
   * The event loop, or the whole process, was blocked for a second or longer. `jobs` had a run in flight. Called when
   * the event loop goes on. Not called if this replica leads no job.
   */
  eventLoopBlocked: {
    /** How long the event loop was blocked, in milliseconds. */
    readonly blockedMs: number;
    /** CPU time of the process meanwhile, in milliseconds. Little: the process stood still, or waited. */
    readonly cpuMs: number;
    /** Names of the jobs that had a run in flight. */
    readonly jobs: readonly string[];
  };

  /**
   * An outage begins: this process has lost its connection to the store, cannot connect, or two requests in a row have
   * failed. Sent again after 1 min, 2 min, 4 min and so on of the same outage, at least once an hour. One that begins
   * within 10 s after the last one is the same, and is sent when it has lasted 10 s. Not called for a single failed
   * request, for a request that the store denies, nor after the connections are closed.
   */
  storeUnreachable: {
    /** The failure that showed it. */
    readonly error: StoreError;
    /** How long the store has not answered in this outage, in milliseconds. 0 when it begins. */
    readonly outageMs: number;
  };
  /**
   * The outage that `storeUnreachable` reported is over: a heartbeat was answered. Also called for another server that
   * answers after an outage which was not reported. Not called after the connections are closed.
   */
  storeRecovered: {
    /** How long the store did not answer, in milliseconds. */
    readonly outageMs: number;
    /**
     * True: the store restarted, or is another server now. A job whose leader does not go on gets another one after the
     * grace period, which is the longest `lockExpiry`. Left out: not known.
     */
    readonly hasRestarted?: true;
  };
  /**
   * A person must change something. With a `job`, its record cannot be read. Without, the store denies what all jobs
   * need: a permission is missing, a password is wrong, too few replicas of Redis are connected, or the record
   * `all:pause` cannot be read. Sent again after 1 min, 2 min, 4 min and so on while that lasts, at least once an hour.
   * Not called when it works again.
   */
  requestDenied: {
    /** Name of the job. Left out: all jobs need what is denied. */
    readonly job?: string;
    /** The answer of the store. */
    readonly error: StoreError;
    /** For how long requests have been denied, in milliseconds. 0 at first. */
    readonly deniedMs: number;
  };
  /**
   * A rare condition that a person should look at. The `code` is stable, the message is not. A store reports what puts
   * leases and records at risk. Not called for what has an event of its own, and not called again when the condition
   * ends.
   */
  warning: {
    /**
     * Names the condition. The store has codes of its own: the pages about production have them. Those of the library:
     *
     * - `CLOCK_AHEAD`: the clock of this replica is more than a minute ahead of the store, so a cron occurrence could
     *   not be claimed yet. The replica claims it again when the clock of the store has come that far.
     * - `CLAIMS_AHEAD`: a cron job has claims ahead of the clock of the store, which was set back. Up to a day they
     *   count, so its occurrences wait. Beyond that the schedule begins anew.
     * - `HEARTBEAT_THREAD_FAILED`: the heartbeat thread ended, or had no connection for 10 s while the main thread had
     *   one. The main thread still renews the leases, but they no longer outlast a blocked event loop. Once, and until
     *   the process is restarted. Not at a stop.
     * - `SCHEDULE_DIFFERS`: the leader of a job has another schedule than this replica. Once for each schedule: after a
     *   change until the deploy has ended, or for ever if two applications have one `projectName`.
     * - `RETURNS_AT_ONCE`: a `@WhileLeader` method has returned within a second three times in a row. Once a term.
     * - `ONLY_FAILED`: the option `only` of a cron job has thrown. Once for each occurrence.
     * - `WAITS_FOR_REAL_TIME`: timers are faked, and a run waits for the time of the machine. Only with
     *   `store: 'memory'`.
     * - `RUNNER_FAILED`: the library itself failed while it led a job, or competed for it. Its term is released, and
     *   the job starts again.
     */
    readonly code:
      | 'CLOCK_AHEAD'
      | 'CLAIMS_AHEAD'
      | 'HEARTBEAT_THREAD_FAILED'
      | 'SCHEDULE_DIFFERS'
      | 'RETURNS_AT_ONCE'
      | 'ONLY_FAILED'
      | 'WAITS_FOR_REAL_TIME'
      | 'RUNNER_FAILED'
      | (string & Record<never, never>);
    /** What happened, and what to do: the line in the log without its prefix. */
    readonly message: string;
    /** Name of the job. Left out: it concerns all jobs. */
    readonly job?: string;
    /** What was thrown, if that is the cause. */
    readonly error?: unknown;
  };
  /**
   * An observer threw or rejected. Nothing else was affected. Not called for a failure at this very event, nor for
   * interceptors.
   */
  observerFailed: {
    /** The event whose callback failed. */
    readonly event: keyof JobEvents;
    /** What the callback threw. */
    readonly error: unknown;
  };
}

/** What the events of a run that has ended have in common. */
export type EndedRun = JobEvents['runSucceeded' | 'runFailed' | 'runCancelled'];

/** The names of all events. */
export const EVENT_NAMES: readonly string[] = Object.keys({
  leadershipGained: true,
  leadershipLost: true,
  leadershipReleased: true,
  heartbeatAnswered: true,
  leaderChanged: true,
  jobPaused: true,
  jobResumed: true,
  runStarted: true,
  runSucceeded: true,
  runFailed: true,
  runCancelled: true,
  runSlow: true,
  tickDropped: true,
  occurrenceSkipped: true,
  occurrencesMissed: true,
  runInterrupted: true,
  shutdownDelayed: true,
  eventLoopBlocked: true,
  storeUnreachable: true,
  storeRecovered: true,
  requestDenied: true,
  warning: true,
  observerFailed: true,
} satisfies Record<keyof JobEvents, true>);

/** One event: its name and its payload. A `switch` on `event` narrows the type of `payload`. */
export type JobEvent = {
  [E in keyof JobEvents]: {
    /** Its name, as in {@link JobEvents}. */
    readonly event: E;
    /** Its payload, as in {@link JobEvents}. */
    readonly payload: JobEvents[E];
  };
}[keyof JobEvents];

/** Why it happened. */
export type Reason<E extends 'leadershipLost' | 'leadershipReleased' | 'tickDropped' | 'occurrencesMissed'> =
  JobEvents[E]['reason'];

/** Reports an event. It never throws and returns nothing. */
export type Notify = <E extends keyof JobEvents>(event: E, payload: JobEvents[E]) => void;
