import { type Clock, type Timer } from './clock.js';

/** The sleeps of one loop, one after the other. They share one listener of the signal that ends the loop. */
export class Sleeper {
  #timer: Timer | undefined;
  #resolve: (() => void) | undefined;
  readonly #wake = (): void => {
    this.#timer?.cancel();
    this.#resolve?.();
    this.#timer = this.#resolve = undefined;
  };

  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', this.#wake);
  }

  /**
   * Resolves after `delayMs`, when `until` resolves, or as soon as the signal aborts. The caller looks which it was: the `until` of
   * an earlier sleep ends a later one as well.
   */
  sleep(delayMs: number, until?: Promise<unknown>): Promise<void> {
    if (this.signal.aborted) return Promise.resolve();
    void until?.then(this.#wake);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#timer = this.clock.setTimer(delayMs, this.#wake);
    });
  }
}
