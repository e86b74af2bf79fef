import { SingletonJobError } from './singleton-job.error.js';

/** What each code means, for messages. */
export const ABORT_REASONS: Readonly<Record<RunAbortCode, string>> = {
  LEASE_LOST: 'this replica may no longer lead the job',
  SHUTDOWN: 'the application is stopping and does not wait any longer',
  STEPPED_DOWN: 'this replica releases the job',
  TIMEOUT: 'the run took longer than the timeout of the job',
  SUPERSEDED: "a newer tick is due and the job's overlap is 'cancel-other'",
};

/** The reason of a run's `AbortSignal`: what `signal.throwIfAborted()` throws inside a job. */
export class RunAbortedError extends SingletonJobError {
  constructor(
    /** Name of the job. */
    readonly job: string,
    /**
     * Why the run was aborted:
     *
     * - `LEASE_LOST`: this replica may no longer lead the job;
     * - `SHUTDOWN`: the application stops, and the run has used its part of `shutdownTimeout`, which `@WhileLeader`
     *   does not wait for;
     * - `STEPPED_DOWN`: a `@WhileLeader` job was paused or unregistered, or this replica steps down;
     * - `TIMEOUT`: the run took longer than the `timeout` of the job;
     * - `SUPERSEDED`: a newer tick is due, and `overlap` is `'cancel-other'`.
     */
    readonly code: 'LEASE_LOST' | 'SHUTDOWN' | 'STEPPED_DOWN' | 'TIMEOUT' | 'SUPERSEDED',
  ) {
    super(`the run of job '${job}' was aborted: ${ABORT_REASONS[code]}`);
  }
}

/** The code of a {@link RunAbortedError}. */
export type RunAbortCode = RunAbortedError['code'];

/** Thrown by `assertLeader()` once the lease that the run started under is no longer valid. */
export class LeaseLostError extends SingletonJobError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'LEASE_LOST';

  constructor(
    /** Name of the job. */
    readonly job: string,
  ) {
    super(`this replica can no longer be sure that it leads job '${job}': stop before the next side effect`);
  }
}
