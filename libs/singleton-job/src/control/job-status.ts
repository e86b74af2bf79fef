import { type RunInfo } from '../base/events/run-info.js';

/** A job as this replica sees it: plain data that can be written as JSON. */
export interface JobStatus {
  /** Name of the job. */
  readonly name: string;
  /** The kind of its schedule. */
  readonly kind: RunInfo['kind'];
  /** For example `fixed-rate 500ms offset 0ms` or `cron 0 3 * * * UTC`. */
  readonly schedule: string;
  /** Its `lockExpiry` in milliseconds. */
  readonly lockExpiryMs: number;
  /** Its `timeout` in milliseconds. Null: it has none. */
  readonly timeoutMs: number | null;
  /**
   * The role of this replica for the job:
   *
   * - `leader`: it leads the job;
   * - `follower`: it competes for the job, or will;
   * - `paused`: the job is paused on all replicas;
   * - `disabled`: it does not compete for the job;
   * - `stopped`: the application stops.
   */
  readonly role: 'leader' | 'follower' | 'paused' | 'disabled' | 'stopped';
  /**
   * When the job was paused on all replicas, by the clock of the store, ISO 8601. Null: it is not, as far as this
   * replica knows. A replica on which the job is disabled knows only of a pause of all jobs.
   */
  readonly pausedAt: string | null;
  /** When that pause ends by itself, by the clock of the store, ISO 8601. Null: it does not, or there is none. */
  readonly pausedUntil: string | null;
  /** Why, in the words of the caller. Null: none was given, or the job is not paused. */
  readonly pauseReason: string | null;
  /** What is paused: this job, or all jobs, which counts first. Null: the job is not paused. */
  readonly pauseScope: 'job' | 'all' | null;
  /**
   * The leader as this replica knows it: `nodeId` with its random part. Null: there is none, or none is known. A
   * replica on which the job is disabled never knows it.
   */
  readonly leader: string | null;
  /** The fencing token of the term of this replica. Null: this replica does not lead. */
  readonly fencingToken: number | null;
  /** Milliseconds until the deadline of the term, unless the lease is renewed. Null: this replica does not lead. */
  readonly leaseRemainingMs: number | null;
  /** When the run in flight began, ISO 8601. Null: there is none. */
  readonly runningSince: string | null;
  /** The newest run that has ended on this replica. Null: none has. */
  readonly lastRun: {
    /** Why it was started. */
    readonly cause: RunInfo['cause'];
    /** How it ended: it returned, it threw, or it threw after its signal had fired. */
    readonly outcome: 'succeeded' | 'failed' | 'cancelled';
    /** ISO 8601. */
    readonly scheduledAt: string;
    /** ISO 8601. */
    readonly startedAt: string;
    /** From its start until it ended. */
    readonly durationMs: number;
    /** That of the term. */
    readonly fencingToken: number;
    /** The message of the error of a failed run with its causes, 200 characters at most. */
    readonly error: string | null;
  } | null;
  /**
   * When the next tick is due on the leader, ISO 8601. For an interval only the leader knows it, by the clock of the
   * store, and not in a run. Null also for `@WhileLeader` and `@Once`, and while the job is paused on all replicas, as
   * far as this replica knows.
   */
  readonly nextTickAt: string | null;
  /** What this replica has counted since it started. */
  readonly counters: {
    /** Terms that it led. */
    readonly terms: number;
    /** Terms that it lost: see `leadershipLost`. */
    readonly lostTerms: number;
    /** Runs that returned. */
    readonly succeeded: number;
    /** Runs that threw. */
    readonly failed: number;
    /** Runs that threw after their signal had fired. */
    readonly cancelled: number;
    /** Ticks that it did not start as the leader: see `tickDropped`. */
    readonly dropped: number;
    /** Cron occurrences that it reported as not started: see `occurrencesMissed`. */
    readonly missed: number;
  };
}

/** What a replica has counted. */
export type JobCounters = JobStatus['counters'];

/** The newest run of a job that has ended on a replica. */
export type LastRun = NonNullable<JobStatus['lastRun']>;

/** How a run ended. */
export type RunOutcome = LastRun['outcome'];

/** A job as the store knows it, whichever replica leads it: plain data that can be written as JSON. */
export interface JobOverview extends Pick<
  JobStatus,
  'name' | 'kind' | 'schedule' | 'pausedAt' | 'pausedUntil' | 'pauseReason' | 'pauseScope'
> {
  /** The replica that leads: `nodeId` with its random part. Null: none. A killed leader leads until its lease ends. */
  readonly leader: string | null;
  /**
   * When the next three ticks are due, ISO 8601, by the schedule of this replica. Those of an interval count as if its
   * runs took no time. None: it is paused, `@WhileLeader`, `@Once`, or an interval in a run.
   */
  readonly nextTimes: readonly string[];
  /**
   * The last run on any replica, by the clock of the store. A run that is not claimed before it starts is written
   * within 10 s: then the run before it is still shown. Null: none is known.
   */
  readonly lastRun: {
    /** ISO 8601. */
    readonly startedAt: string;
    /** ISO 8601. Null: its end is not written. It runs, or its replica has crashed. */
    readonly endedAt: string | null;
    /**
     * `interrupted`: its replica was gone when the next leader took over, which is its `endedAt`. Null: its end is not
     * written.
     */
    readonly outcome: 'succeeded' | 'failed' | 'cancelled' | 'interrupted' | null;
    /** The message of the error of a failed run with its causes, 200 characters at most. */
    readonly error: string | null;
    /** The replica: `nodeId` with its random part. */
    readonly by: string;
  } | null;
}
