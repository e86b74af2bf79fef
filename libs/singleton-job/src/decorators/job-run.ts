import { LeaseLostError } from '../errors/index.js';
import { type InterceptedRun, type RunCause, type RunInfo, type ScheduleKind } from '../events/index.js';

/** What a job method is given: which run this is, and how to know that it must stop. */
export class JobRun implements InterceptedRun {
  readonly job: string;
  readonly kind: ScheduleKind;
  readonly cause: RunCause;
  /** The tick this run stands for; for an interval, when it was due. */
  readonly scheduledAt: Date;
  readonly startedAt: Date;
  /**
   * Larger than that of every run under an earlier leader of this job. Hand it to the resource you write to and let it
   * refuse smaller ones: nothing else stops a process that was paused between its last check and its write.
   */
  readonly fencingToken: number;
  /**
   * Fires when the run must end: the lease can no longer be trusted, the application stops, the timeout has passed or a
   * newer tick takes over. Its reason is a `RunAbortedError` whose `code` says which.
   */
  readonly signal: AbortSignal;
  readonly #isTrusted: () => boolean;
  #wasRefused = false;

  /** Runs are made by the library; `isTrusted` tells whether the lease of this one holds at this moment. */
  constructor(info: RunInfo, signal: AbortSignal, isTrusted: () => boolean) {
    this.job = info.job;
    this.kind = info.kind;
    this.cause = info.cause;
    // dates can be set, and observers are told of the same instants
    this.scheduledAt = new Date(info.scheduledAt);
    this.startedAt = new Date(info.startedAt);
    this.fencingToken = info.fencingToken;
    this.signal = signal;
    this.#isTrusted = isTrusted;
  }

  /**
   * Throws a `LeaseLostError` if this replica may no longer lead the job, also when a blocked event loop has kept the
   * signal from firing. Asks only the local clocks, so it costs nothing: call it right before each side effect.
   */
  assertLeader(): void {
    this.#wasRefused = !this.#isTrusted();
    if (this.#wasRefused) throw new LeaseLostError(this.job);
  }

  /**
   * Whether `assertLeader()` threw when it was last called. A run that throws after that counts as cancelled, also with another
   * error; the signal may not have fired, and where only the wall clock is in doubt it need not.
   */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }
}
