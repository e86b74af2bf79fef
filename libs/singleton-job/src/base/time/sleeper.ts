import { type Clock, type Timer } from './clock.js';

/**
 * Sleeps until a due time, a wake-up or the end of its signal, whichever comes first. All its sleeps, one after the other, share one
 * listener on the signal.
 *
 * A due time that passes while nothing sleeps ends the next sleep at once. A timer that fires early is set again. So no wake-up is lost.
 */
export class Sleeper {
  #dueMs = Infinity;
  #timer: Timer | undefined;
  #resolve: (() => void) | undefined;
  #until: Promise<unknown> | undefined;
  #isOver: boolean;

  constructor(
    private readonly clock: Clock,
    signal: AbortSignal,
  ) {
    this.#isOver = signal.aborted;
    signal.addEventListener('abort', () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  /** Whether the signal has aborted. A loop reads it at each turn, where `signal.aborted` is slow. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves at the due time and never before, unless the signal aborts. */
  untilDue(): Promise<void> {
    const restMs = this.#dueMs - this.clock.now();
    if (this.#isOver || restMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#arm(restMs);
    });
  }

  /** Sets the due time to `delayMs` from now, unless it is earlier already. */
  wakeIn(delayMs: number): void {
    const dueMs = this.clock.now() + Math.max(delayMs, 0);
    if (dueMs >= this.#dueMs) return;
    this.#dueMs = dueMs;
    if (this.#resolve === undefined) return;
    this.#timer?.cancel();
    this.#fired();
  }

  /** Forgets the due time. */
  reset(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Infinity;
  }

  /**
   * Resolves after `delayMs` and never before, unless `until` resolves or the signal aborts. The caller checks why: the `until` of an
   * earlier sleep ends a later one as well. It also checks right before that `until` has not resolved since an earlier sleep.
   */
  sleep(delayMs: number, until?: Promise<unknown>): Promise<void> {
    this.reset();
    this.wakeIn(delayMs);
    // one handler for each promise: many sleeps may wait for the same run that ignores its signal
    if (until !== this.#until) {
      this.#until = until;
      void until?.then(this.#wake);
    }
    return this.untilDue();
  }

  /** Rounded down: rounded up, it would be late by up to a millisecond. */
  #arm(restMs: number): void {
    if (restMs !== Infinity) this.#timer = this.clock.setTimer(Math.max(Math.floor(restMs), 1), this.#fired);
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
