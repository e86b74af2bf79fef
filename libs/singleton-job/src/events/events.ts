import { type LockStoreError, type RunAbortCode } from '../errors/index.js';

export type ScheduleKind = 'fixed-rate' | 'interval' | 'cron';

/** Why a run was started: its schedule, an occurrence that nobody started in time, or somebody who asked for it. */
export type RunCause = 'schedule' | 'misfire' | 'trigger';

/** One run, as plain data. */
export interface RunInfo {
  readonly job: string;
  readonly kind: ScheduleKind;
  readonly cause: RunCause;
  readonly scheduledAt: Date;
  readonly startedAt: Date;
  readonly fencingToken: number;
}

export interface RunEnded extends RunInfo {
  readonly durationMs: number;
}

/** How a term ended against the will of this replica: its deadline passed unconfirmed, or another holds the lock. */
export type LeadershipLoss = 'expired' | 'preempted';

/** Why this replica gave a term back: the application stops, its runner broke, or somebody asked for it by the registry. */
export type LeadershipReleaseReason = 'shutdown' | 'runner-failed' | 'paused' | 'stepped-down' | 'unregistered';

/**
 * Why a tick was not started by the replica that led:
 * `overlap`, a run was in flight; `late`, the event loop was blocked and a newer tick was due as well;
 * `lease-unconfirmed`, the clocks disagreed and no renewal had been confirmed since.
 */
export type TickDropReason = 'overlap' | 'late' | 'lease-unconfirmed';

/**
 * Why cron occurrences were not started: `late`, nobody led in time and the misfire grace was over, or a newer one was due;
 * `start-not-confirmed`, a replica claimed them and then vanished; `schedule-changed`, they lie before a new schedule;
 * `state-lost`, Redis lost its data.
 *
 * Redis is told with the next heartbeat what has begun and what was reported. Of a leader that is lost before, the next one
 * knows the claim alone: as `start-not-confirmed` it reports also what began, or was told as `late` or as an overlap, in that
 * last heartbeat. `schedule-changed` and `state-lost` it may repeat as they were.
 */
export type MissReason = 'late' | 'start-not-confirmed' | 'schedule-changed' | 'state-lost';

/**
 * Every event of the library with what it carries. Names are past tense; each happens on the replica that tells it. What
 * `LockService` locks has handles and no events, but for those of the store: their `job` then begins with `lock/`.
 */
export interface JobEvents {
  /**
   * This replica leads the job from now on. Not called again while the term is renewed. After Redis lost its data it starts
   * nothing for `waitMs`, in which an earlier leader may still trust its lease.
   */
  leadershipGained: { readonly job: string; readonly fencingToken: number; readonly waitMs?: number };

  /**
   * A term ended ungracefully; the signal of a run in flight fires with it. Not called for a release, nor for a grant that came
   * too late to be a term.
   */
  leadershipLost: { readonly job: string; readonly fencingToken: number; readonly reason: LeadershipLoss };

  /**
   * A term was given back, after its run had settled. `confirmed` is false when Redis did not answer, or a run had not settled
   * when the connections were closed: then the lock expires by itself. Not called for a term that was lost before.
   */
  leadershipReleased: {
    readonly job: string;
    readonly fencingToken: number;
    readonly reason: LeadershipReleaseReason;
    readonly confirmed: boolean;
  };

  /**
   * A heartbeat, or a claim, has confirmed the lease of a job that this replica leads: `roundTripMs` after it was sent.
   * `clockOffsetMs` is how far the clock of Redis is ahead of this replica's, as far as half a round trip can tell. Not
   * called for a question that was not answered, nor for what `LockService` locks.
   */
  leaseRenewed: {
    readonly job: string;
    readonly fencingToken: number;
    readonly roundTripMs: number;
    readonly clockOffsetMs: number;
  };

  /** A run begins: the job is called next, if its lease still holds then. Not called for a tick that was dropped. */
  runStarted: RunInfo;
  /** The job returned, also if its signal had fired. Not called while it runs on, however long it ignores its signal. */
  runSucceeded: RunEnded;
  /** The job threw or rejected. Not called when it had been told to stop before: that is `runCancelled`. */
  runFailed: RunEnded & { readonly error: unknown };
  /**
   * The job threw or rejected after its signal had fired, or its `assertLeader()` had thrown. Not called at the signal itself,
   * nor if the job returns in spite of it. Also told of a run whose lease was used up by an observer or an interceptor before
   * the job was called: then it is not called, and of a cron occurrence this is the report, for its claim stands and nobody
   * else starts it.
   */
  runCancelled: RunEnded & { readonly code: RunAbortCode };
  /**
   * A run has taken 80 % of `lockExpiry`, and goes on. Harmless unless it blocks the event loop. Not called a second time
   * in a term, nor for a run whose signal has fired.
   */
  runSlow: RunInfo & { readonly elapsedMs: number; readonly lockExpiryMs: number };

  /**
   * `count` ticks, the newest of them at `scheduledAt`, were not started by a replica that led. Not called for an interval,
   * which has no tick while it runs, nor for ticks while nobody led: those of a cron job are `occurrencesMissed`,
   * and so, once more, is a cron tick that was dropped in the last heartbeat of a leader that is lost.
   */
  tickDropped: {
    readonly job: string;
    readonly kind: ScheduleKind;
    readonly reason: TickDropReason;
    readonly scheduledAt: Date;
    readonly count: number;
  };

  /**
   * Cron occurrences in (`from`, `to`] that nobody will start any more. `count` stops at 1000.
   * `claimedBy` is the replica that claimed the newest of them. Not called by any other replica than the one that accounts
   * for them, nor for a tick that is dropped, nor for other kinds of schedule. Called again by the next leader if this one is
   * lost before its next heartbeat: see {@link MissReason}.
   */
  occurrencesMissed: {
    readonly job: string;
    readonly reason: MissReason;
    readonly from: Date;
    readonly to: Date;
    readonly count: number;
    readonly claimedBy?: string;
  };

  /**
   * The event loop stood still, or the whole process did; `jobs` had a run in flight meanwhile. Told when it moves again. Not
   * called for less than a `heartbeatInterval`, nor where no job is enabled.
   */
  loopBlocked: { readonly blockedMs: number; readonly jobs: readonly string[] };

  /**
   * The store has stopped answering: two questions in a row of this process were not. Once an outage and process. With a
   * `job`, only that one is not answered, as on a cluster that has lost some of its hash slots. Not told of a single lost answer,
   * nor of what the store refuses, nor once the connections are closed.
   */
  storeUnreachable: { readonly job?: string; readonly error: LockStoreError };
  /**
   * The end of what `storeUnreachable` announced: the store answers again. Not told of a `job` for which nobody asks any more
   * (it is stopped, paused or unregistered, or a lock that is not requested any more), nor once the connections are closed.
   */
  storeRecovered: { readonly job?: string; readonly outageMs: number };
  /**
   * The store refuses what this job needs until a person mends it, or until it has memory again; without a `job`, what wakes
   * the followers of all jobs after a release. Not told again before it works, nor when it does.
   */
  storeMisconfigured: { readonly job?: string; readonly error: LockStoreError };
  /**
   * This replica's clock is so far ahead of Redis that an occurrence could not be claimed yet: it is claimed again after
   * `aheadMs`. Not called for up to a minute, nor for schedules other than cron.
   */
  clockAhead: { readonly job: string; readonly scheduledAt: Date; readonly aheadMs: number };
  /**
   * Redis may drop locks when its memory is full, and a lock that is dropped is held by two: its `maxmemory-policy` is not
   * `noeviction`, or, without a `policy`, is not shown to us. Once a process, when it is first connected: not called for a
   * policy that is changed later.
   */
  evictionPossible: { readonly policy?: string };
  /**
   * A bid has found a lock without a time to live, which would have been held for ever, and has given it one. Not called by the
   * bids that come after.
   */
  lockMended: { readonly job: string; readonly holder: string };
  /** The library's own runner broke. Its term is given back, and the runner starts again. Not called for what a job throws. */
  runnerFailed: { readonly job: string; readonly error: unknown };
  /**
   * An observer threw or rejected; nothing else noticed. Not called for one that does so at this very event, nor for
   * interceptors and for subscribers of a channel.
   */
  observerFailed: { readonly event: keyof JobEvents; readonly error: unknown };
}

/** How the library says that something happened. It never throws and nothing ever comes back. */
export type Notify = <E extends keyof JobEvents>(event: E, payload: JobEvents[E]) => void;
