import { LeaseLostError } from '../base/errors/run.errors.js';
import { type RunInfo } from '../base/events/run-info.js';
import { type Duration } from '../base/text/duration.js';
import { type Clock } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';
import { millisecondsOf } from '../options/duration.js';

/** A {@link RunInfo} whose times are milliseconds since the epoch. */
type RunInfoInMs = { readonly [K in keyof RunInfo]: RunInfo[K] extends Date ? number : RunInfo[K] };

/**
 * The argument of a job method: which run this is, and how to know that it must stop. It may be destructured.
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
export abstract class JobRun implements RunInfo {
  /** Name of the job. */
  readonly job: string;
  /** The kind of its schedule. */
  readonly kind: RunInfo['kind'];
  /** Why the run was started. */
  readonly cause: RunInfo['cause'];
  /**
   * Larger than that of every run under an earlier leader of this job. Pass it to the resource that you write to, and
   * let it refuse smaller tokens. Nothing else stops a process that was suspended between its last check and its write.
   */
  readonly fencingToken: number;
  /** In milliseconds since the epoch: the dates of most runs are never read. */
  readonly #scheduledAt: number;
  readonly #startedAt: number;
  #wasRefused = false;

  /** Runs are made by the library. @internal */
  constructor({ job, kind, cause, fencingToken, scheduledAt, startedAt }: RunInfoInMs) {
    this.job = job;
    this.kind = kind;
    this.cause = cause;
    this.fencingToken = fencingToken;
    this.#scheduledAt = scheduledAt;
    this.#startedAt = startedAt;
  }

  /** The slot or the occurrence, not the time the run began. For an interval or a trigger: when the run was due. */
  get scheduledAt(): Date {
    return new Date(this.#scheduledAt);
  }

  /** When the run began, by the wall clock of this replica. */
  get startedAt(): Date {
    return new Date(this.#startedAt);
  }

  /** As plain data. @internal */
  toJSON(): RunInfo {
    const { job, kind, cause, scheduledAt, startedAt, fencingToken } = this;
    return { job, kind, cause, scheduledAt, startedAt, fencingToken };
  }

  /**
   * Fires when the run must end: the lease is no longer valid, the application stops, the timeout has passed, or a
   * newer tick is due. Its reason is a `RunAbortedError`. The `code` of that error says why.
   */
  abstract readonly signal: AbortSignal;

  /**
   * What a cron run makes up for: the occurrences since the last run that no replica started. They were missed, or
   * dropped during a run. A run that failed counts as started. Null: there are none, or the run was triggered, or is of
   * another kind.
   *
   * @example `const since = run.missed?.from ?? run.previousScheduledAt;`
   */
  abstract readonly missed: {
    /** The last occurrence that was started, or when the schedule began. */
    readonly from: Date;
    /** The last occurrence that was not started. */
    readonly to: Date;
    /** How many there are after `from` and up to `to`, counted up to 1,000. */
    readonly count: number;
    /** Some of them may have run: the store has lost data, or a leader ended in the run of one. */
    readonly mayHaveRun: boolean;
  } | null;

  /** The occurrence before this one by the schedule of a cron job, whether it ran or not. Null for another kind. */
  abstract readonly previousScheduledAt: Date | null;

  /** Whether the lease of the run holds at this moment. @internal */
  protected abstract isValid(): boolean;

  /** By which the run waits. @internal */
  protected abstract readonly clock: Clock;

  /**
   * Throws a `LeaseLostError` if this replica may no longer lead the job. It works also when a blocked event loop has
   * kept the signal from firing. It only reads the local clocks and sends nothing: call it right before each side
   * effect.
   */
  get assertLeader(): () => void {
    return () => {
      this.#wasRefused = !this.isValid();
      if (this.#wasRefused) throw new LeaseLostError(this.job);
    };
  }

  /**
   * Resolves after this time, and rejects as soon as the signal fires. It goes by the clock of the library, so it works
   * with fake timers and with the clock of `InMemoryReplicas`.
   *
   * @example `await run.sleep('250ms');`
   * @throws RunAbortedError when the signal fires
   */
  get sleep(): (time: Duration) => Promise<void> {
    return async (time) => {
      const { signal } = this;
      await sleep(this.clock, millisecondsOf(time, 'run.sleep()'), signal);
      signal.throwIfAborted();
    };
  }

  /**
   * Whether the last call of `assertLeader()` threw. A run that throws after that counts as cancelled, also with
   * another error and also if its signal has not fired. (It may never fire if only the wall clock is in doubt.)
   */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }
}

/** The occurrences of a cron job that a run makes up for. */
export type MissedOccurrences = NonNullable<JobRun['missed']>;
