import { RunAbortedError } from '../base/errors/run.errors.js';
import { type RunInfo } from '../base/events/run-info.js';
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
  readonly #controller: AbortController;
  readonly #lease: { isValid: boolean };

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
    const controller = new AbortController();
    const lease = { isValid: true };
    const all: RunInfo = { job, kind, cause, scheduledAt, startedAt, fencingToken };
    const either = signal === undefined ? controller.signal : AbortSignal.any([controller.signal, signal]);
    const previous = previousScheduledAt?.getTime();
    const isValid = (): boolean => lease.isValid;
    super(all, {
      signal: either,
      isValid,
      missed,
      previousScheduledAt: previous,
      clock: clock ?? new SystemClock(),
    });
    this.#controller = controller;
    this.#lease = lease;
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
    this.#lease.isValid = false;
  }
}
