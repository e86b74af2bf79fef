import { type RunEnded, type ScheduleKind } from '../events/index.js';

/**
 * What this replica is to a job. `leader` and `follower` compete for it; a `paused` one does not until it is resumed; a
 * `disabled` one never does; `stopped` is everything once the application stops.
 */
export type JobRole = 'leader' | 'follower' | 'paused' | 'disabled' | 'stopped';

/** How a run ended: it returned, it threw, or it threw after its signal had fired. */
export type RunOutcome = 'succeeded' | 'failed' | 'cancelled';

/** The newest run of a job that has settled on this replica. */
export interface LastRun extends Pick<RunEnded, 'cause' | 'durationMs' | 'fencingToken'> {
  /** How it ended. */
  readonly outcome: RunOutcome;
  /** ISO 8601. */
  readonly scheduledAt: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The message of what a failed run threw. */
  readonly error: string | null;
}

/** What this replica has counted since it started. */
export interface JobCounters {
  /** Terms that it led. */
  readonly terms: number;
  /** Terms that it lost against its will. */
  readonly lostTerms: number;
  /** Runs that returned. */
  readonly succeeded: number;
  /** Runs that threw. */
  readonly failed: number;
  /** Runs that threw after their signal had fired. */
  readonly cancelled: number;
  /** Ticks that it did not start although it led: see `tickDropped`. */
  readonly dropped: number;
  /** Cron occurrences that it reported as not started: see `occurrencesMissed`. */
  readonly missed: number;
}

/** A job as this replica sees it: plain data that can be written as JSON. */
export interface JobStatus {
  /** Name of the job. */
  readonly name: string;
  /** The kind of its schedule. */
  readonly kind: ScheduleKind;
  /** As in `fixed-rate 500ms offset 0ms` or `cron 0 3 * * * UTC`. */
  readonly schedule: string;
  /** Its `lockExpiry` in milliseconds. */
  readonly lockExpiryMs: number;
  /** Null: a run may take as long as it likes. */
  readonly timeoutMs: number | null;
  /** What this replica is to the job. */
  readonly role: JobRole;
  /**
   * The leader as this replica knows it: `nodeId` with its random part. Null when there is none, or none is known; one
   * that is paused does not ask.
   */
  readonly leader: string | null;
  /** Of the term that this replica leads. Null when it does not. */
  readonly fencingToken: number | null;
  /** Until the safe deadline of that term, unless it is renewed. Null when this replica does not lead. */
  readonly leaseRemainingMs: number | null;
  /** When the run in flight began, ISO 8601. Null when none is. */
  readonly runningSince: string | null;
  /** The newest run that has settled on this replica. Null: none has. */
  readonly lastRun: LastRun | null;
  /**
   * When the next tick is due on the leader, ISO 8601. Null for an interval but between two runs of the replica that leads.
   */
  readonly nextTickAt: string | null;
  /** What this replica has counted since it started. */
  readonly counters: JobCounters;
}

/** What became of a request to run a job now. */
export type TriggerResult =
  | ({
      /** The run has begun. Its outcome is not waited for. */
      readonly started: true;
    } & Pick<LastRun, 'fencingToken' | 'startedAt'>)
  | {
      /** No run was started. */
      readonly started: false;
      /**
       * `not-leader`: call it on the replica that `leader` names; null: there is none at the moment. `running`: a run is in flight.
       * `lease-unconfirmed`: this replica leads, but starts no run at the moment, because it stops or its lease is in doubt again.
       */
      readonly reason: 'not-leader' | 'running' | 'lease-unconfirmed';
      /** The leader as this replica knows it: `nodeId` with its random part. */
      readonly leader: string | null;
    };
