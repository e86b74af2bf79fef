import { type Clock, type Timer } from '../time/index.js';

/**
 * When a follower sends its next request. An alarm that goes off while nothing waits, because a request is under way, is kept for the
 * next wait.
 */
export class Alarm {
  #dueMs = Infinity;
  #timer: Timer | undefined;
  #wake: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  /** Sets the alarm to go off after `delayMs`, unless it is set to an earlier time. */
  bringForward(delayMs: number): void {
    const dueMs = this.clock.now() + Math.max(delayMs, 0);
    if (dueMs >= this.#dueMs) return;
    this.clear();
    this.#dueMs = dueMs;
    if (delayMs <= 0) this.#wake?.();
    else this.#timer = this.clock.setTimer(delayMs, () => this.#wake?.());
  }

  /** Unsets the alarm. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Infinity;
  }

  /** Resolves when the alarm goes off, or `signal` aborts. */
  wait(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.clock.now() >= this.#dueMs) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#wake = undefined;
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done);
    });
  }
}
