import { type Clock, type Timer } from './clock.js';

/** The sleeps of one loop, one after the other. All share one listener on the signal that ends the loop. */
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
   * Resolves after `delayMs` and never before, unless `until` resolves or the signal aborts. The caller checks why: the `until` of an
   * earlier sleep ends a later one as well.
   */
  sleep(delayMs: number, until?: Promise<unknown>): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    this.#dueMs = this.clock.now() + delayMs;
    // one handler for each promise: many sleeps may wait for the same run that ignores its signal
    if (until !== this.#until) {
      this.#until = until;
      void until?.then(this.#wake);
    }
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#arm(delayMs);
    });
  }

  /** Rounded down: rounded up, it would be late by up to a millisecond. A timer that fires early is set again. */
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
