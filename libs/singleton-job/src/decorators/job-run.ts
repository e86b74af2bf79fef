import { LeaseLostError } from '../errors/index.js';
import { type InterceptedRun, type RunCause, type RunInfo, type ScheduleKind } from '../events/index.js';

/** What stands behind a run. */
export interface RunControl {
  /** Fires when the run must end. It is made when it is first asked for: most runs never ask. */
  readonly signal: AbortSignal;
  /** Whether the lease of the run holds at this moment. */
  isTrusted(): boolean;
}

/**
 * What a job method is given: which run this is, and how to know that it must stop.
 *
 * @example
 * ```ts
 * @FixedRate('1s', { name: 'price-tick' })
 * async tick(run: JobRun): Promise<void> {
 *   const price = await pull({ signal: run.signal });
 *   run.assertLeader();
 *   await write(price, run.fencingToken);
 * }
 * ```
 */
export class JobRun implements InterceptedRun {
  /** Name of the job. */
  readonly job: string;
  /** The kind of its schedule. */
  readonly kind: ScheduleKind;
  /** Why the run was started. */
  readonly cause: RunCause;
  /** The tick this run stands for; for an interval, when it was due. */
  readonly scheduledAt: Date;
  /** When the run began, by the wall clock of this replica. */
  readonly startedAt: Date;
  /**
   * Larger than that of every run under an earlier leader of this job. Hand it to the resource you write to and let it
   * refuse smaller ones: nothing else stops a process that was paused between its last check and its write.
   */
  readonly fencingToken: number;
  readonly #control: RunControl;
  #wasRefused = false;

  /** Runs are made by the library. @internal */
  constructor(info: RunInfo, control: RunControl) {
    this.job = info.job;
    this.kind = info.kind;
    this.cause = info.cause;
    // dates can be set, and observers are told of the same instants
    this.scheduledAt = new Date(info.scheduledAt);
    this.startedAt = new Date(info.startedAt);
    this.fencingToken = info.fencingToken;
    this.#control = control;
  }

  /**
   * Fires when the run must end: the lease can no longer be trusted, the application stops, the timeout has passed or a
   * newer tick takes over. Its reason is a `RunAbortedError` whose `code` says which.
   */
  get signal(): AbortSignal {
    return this.#control.signal;
  }

  /**
   * Throws a `LeaseLostError` if this replica may no longer lead the job, also when a blocked event loop has kept the
   * signal from firing. Asks only the local clocks, so it costs nothing: call it right before each side effect.
   */
  assertLeader(): void {
    this.#wasRefused = !this.#control.isTrusted();
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
