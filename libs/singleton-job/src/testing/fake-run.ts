import { JobRun } from '../decorators/index.js';
import { type RunAbortCode, RunAbortedError } from '../errors/index.js';
import { type RunInfo } from '../events/index.js';

type Settable<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** What a test sets of a fake run; the rest is some fixed-rate run of the year 2027. */
export interface FakeRunOptions extends Settable<RunInfo> {
  /** Fires the signal of the run too, with its own reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A run that no leader stands behind, to call a job's method with: `await prices.tick(new FakeRun())`. */
export class FakeRun extends JobRun {
  readonly #controller: AbortController;
  readonly #lease: { isTrusted: boolean };

  constructor({
    signal,
    job = 'fake-job',
    kind = 'fixed-rate',
    cause = 'schedule',
    scheduledAt = new Date('2027-01-01T00:00:00Z'),
    startedAt = scheduledAt,
    fencingToken = 1,
  }: FakeRunOptions = {}) {
    const controller = new AbortController();
    const lease = { isTrusted: true };
    const all: RunInfo = { job, kind, cause, scheduledAt, startedAt, fencingToken };
    const either = signal === undefined ? controller.signal : AbortSignal.any([controller.signal, signal]);
    super(all, { signal: either, isTrusted: () => lease.isTrusted });
    this.#controller = controller;
    this.#lease = lease;
  }

  /**
   * Fires the signal, as the library does for this reason. After `LEASE_LOST`, `assertLeader()` throws as well; the other
   * reasons leave the lease as it is.
   */
  abort(code: RunAbortCode): void {
    if (code === 'LEASE_LOST') this.loseLease();
    this.#controller.abort(new RunAbortedError(this.job, code));
  }

  /** Makes `assertLeader()` throw while the signal has not fired yet: what a run sees whose event loop was blocked. */
  loseLease(): void {
    this.#lease.isTrusted = false;
  }
}
