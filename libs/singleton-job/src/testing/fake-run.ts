import { RunAbortedError } from '../base/errors/run.errors.js';
import { type RunInfo } from '../base/events/run-info.js';
import { type Clock } from '../base/time/clock.js';
import { SystemClock } from '../base/time/system-clock.js';
import { JobRun } from '../jobs/job-run.js';
import { type ManualClock } from './manual-clock.js';

type Settable<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The fields of a fake run. By default it is a fixed-rate run in the year 2027. */
export interface FakeRunOptions extends Settable<RunInfo> {
  /** @default null */
  readonly missed?: JobRun['missed'] | undefined;
  /** @default null */
  readonly previousScheduledAt?: Date | null | undefined;
  /** A signal that also aborts the run, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /** By which `run.sleep()` waits. @default the clock of the machine, or that of fake timers */
  readonly clock?: ManualClock | undefined;
}

/** A run for tests that call the method of a job: `await prices.tick(new FakeRun())`. */
export class FakeRun extends JobRun {
  /** Fires with `abort()`, and with the signal of the test. */
  readonly signal: AbortSignal;
  /** As it was given. */
  readonly missed: JobRun['missed'];
  /** As it was given. */
  readonly previousScheduledAt: Date | null;
  /** @internal */
  protected readonly clock: Clock;
  readonly #controller = new AbortController();
  #isValid = true;

  constructor({
    signal,
    job = 'fake-job',
    kind = 'fixed-rate',
    cause = 'schedule',
    scheduledAt = new Date('2027-01-01T00:00:00Z'),
    startedAt = scheduledAt,
    fencingToken = 1,
    missed = null,
    previousScheduledAt = null,
    clock,
  }: FakeRunOptions = {}) {
    super({ job, kind, cause, scheduledAt: scheduledAt.getTime(), startedAt: startedAt.getTime(), fencingToken });
    const own = this.#controller.signal;
    this.signal = signal === undefined ? own : AbortSignal.any([own, signal]);
    this.missed = missed;
    this.previousScheduledAt = previousScheduledAt;
    this.clock = clock ?? new SystemClock();
  }

  /** @internal */
  protected isValid(): boolean {
    return this.#isValid;
  }

  /**
   * Fires the signal, as the library does for this reason. After `LEASE_LOST`, `assertLeader()` throws as well. The
   * other reasons do not change the lease.
   */
  abort(code: RunAbortedError['code']): void {
    if (code === 'LEASE_LOST') this.loseLease();
    this.#controller.abort(new RunAbortedError(this.job, code));
  }

  /** Makes `assertLeader()` throw before the signal fires, as after a blocked event loop. */
  loseLease(): void {
    this.#isValid = false;
  }
}
