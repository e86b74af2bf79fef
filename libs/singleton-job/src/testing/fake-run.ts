import { JobRun } from '../decorators/index.js';
import { type RunAbortCode, RunAbortedError } from '../errors/index.js';
import { type RunInfo } from '../events/index.js';

/** What a test sets of a fake run; the rest is some fixed-rate run of the year 2027. */
export interface FakeRunOptions extends Partial<RunInfo> {
  /** Fires the signal of the run too, with its own reason. */
  readonly signal?: AbortSignal;
}

/** A run that no leader stands behind, to call a job's method with: `await prices.tick(new FakeRun())`. */
export class FakeRun extends JobRun {
  readonly #controller: AbortController;
  readonly #lease: { isTrusted: boolean };

  constructor({ signal, ...info }: FakeRunOptions = {}) {
    const controller = new AbortController();
    const lease = { isTrusted: true };
    const at = info.scheduledAt ?? new Date('2027-01-01T00:00:00Z');
    const all: RunInfo = {
      job: 'fake-job',
      kind: 'fixed-rate',
      cause: 'schedule',
      scheduledAt: at,
      startedAt: at,
      fencingToken: 1,
      ...info,
    };
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
