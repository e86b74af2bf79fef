import { type Clock, type Timer } from './clock.js';

/** The sleeps of one loop, one after the other. They share one listener of the signal that ends the loop. */
export class Sleeper {
  #timer: Timer | undefined;
  #dueMs = 0;
  #resolve: (() => void) | undefined;
  #until: Promise<unknown> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', this.#wake);
  }

  /**
   * Resolves after `delayMs` and never before, unless `until` resolves or the signal aborts. The caller looks which it was: the
   * `until` of an earlier sleep ends a later one as well.
   */
  sleep(delayMs: number, until?: Promise<unknown>): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    this.#dueMs = this.clock.now() + delayMs;
    // once for each: a run that ignores its signal may be waited for again and again
    if (until !== this.#until) {
      this.#until = until;
      void until?.then(this.#wake);
    }
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#arm(delayMs);
    });
  }

  /** Rounded up, a timer would be late by up to a millisecond. Rounded down, it may fire early, and is set again. */
  #arm(delayMs: number): void {
    this.#timer = this.clock.setTimer(Math.max(Math.floor(delayMs), 1), this.#fired);
  }

  readonly #fired = (): void => {
    const restMs = this.#dueMs - this.clock.now();
    if (restMs > 0) this.#arm(restMs);
    else this.#wake();
  };

  readonly #wake = (): void => {
    this.#timer?.cancel();
    this.#resolve?.();
    this.#timer = this.#resolve = undefined;
  };
}
