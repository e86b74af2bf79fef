import { type Clock } from '../base/time/clock.js';
import { within } from '../base/time/within.js';

/** How long a run may take after its signal fired, and how long the last releases may take after that. */
const ABORT_MS = 1_000;
const RELEASE_MS = 1_000;

/** The three parts of a stop: runs finish by themselves, the others are aborted, and the last locks are released. */
export class ShutdownDeadlines {
  readonly #startedAtMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly shutdownTimeoutMs: number,
  ) {
    this.#startedAtMs = clock.now();
  }

  /** How long runs may take before they are aborted. */
  get abortAfterMs(): number {
    return this.shutdownTimeoutMs - RELEASE_MS - ABORT_MS;
  }

  /** Resolves with `work`, at the latest when runs must be aborted. */
  untilAbort(work: Promise<unknown>): Promise<void> {
    return this.#until(work, this.abortAfterMs);
  }

  /** Resolves when `work` does, at the latest when runs that have not ended are given up. */
  untilRelease(work: Promise<unknown>): Promise<void> {
    return this.#until(work, this.shutdownTimeoutMs - RELEASE_MS);
  }

  /** Resolves when `work` does, at the latest when the stop must be over. */
  untilEnd(work: Promise<unknown>): Promise<void> {
    return this.#until(work, this.shutdownTimeoutMs);
  }

  #until(work: Promise<unknown>, atMs: number): Promise<void> {
    return within(this.clock, this.#startedAtMs + atMs - this.clock.now(), work);
  }
}
