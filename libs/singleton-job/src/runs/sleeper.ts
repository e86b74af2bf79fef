import { type Clock, type Timer } from '../base/time/clock.js';

/**
 * The longest sleep before the clocks are read again. The wall clock may have been stepped, or the host may have been
 * suspended.
 */
const MAX_SLEEP_MS = 30_000;

/**
 * Sleeps for a time, until a promise resolves, or until its {@link end}, whichever comes first.
 */
export class Sleeper {
  #timer: Timer | undefined;
  #resolve: (() => void) | undefined;
  /** When the sleep under way ends, by the monotonic clock. */
  #dueMs = 0;
  #until: Promise<unknown> | undefined;
  /** Whether it sleeps no more. */
  isOver = false;

  constructor(private readonly clock: Clock) {}

  /** Ends the sleep under way. It sleeps no more. */
  end(): void {
    this.isOver = true;
    this.#wake();
  }

  /**
   * Resolves after `delayMs` and never before, or after 30 s if it is more, unless `until` resolves or {@link end} is
   * called. The caller checks which of them it was: the `until` of an earlier sleep can end a later one too. An `until`
   * that has resolved during an earlier sleep does not end this one, so the caller checks that right before.
   */
  sleep(delayMs: number, until?: Promise<unknown>): Promise<void> {
    // one handler for each promise: many sleeps may wait for the same run that ignores its signal
    if (until !== this.#until) {
      this.#until = until;
      void until?.then(this.#wake.bind(this));
    }
    if (this.isOver) return Promise.resolve();
    const restMs = Math.min(delayMs, MAX_SLEEP_MS);
    this.#dueMs = this.clock.now() + restMs;
    const slept = new Promise<void>(this.#keep);
    this.#arm(restMs);
    return slept;
  }

  readonly #keep = (resolve: () => void): void => {
    this.#resolve = resolve;
  };

  /**
   * A timer may fire early: then it is set again. Rounded down: rounded up, it would be late by up to a millisecond.
   */
  readonly #arm = (restMs = this.#dueMs - this.clock.now()): void => {
    if (restMs <= 0) this.#wake();
    else this.#timer = this.clock.setTimer(Math.max(Math.floor(restMs), 1), this.#arm);
  };

  #wake(): void {
    this.#timer?.cancel();
    this.#resolve?.();
    this.#timer = this.#resolve = undefined;
  }
}
