import { type Clock } from './clock.js';

/** A condition variable: its callers wait until it is notified. */
export class Condition {
  readonly #waiting = new Set<(isNotified: boolean) => void>();

  constructor(private readonly clock: Clock) {}

  /** Resolves to true when {@link notify} is called next, and to false when `signal` aborts or after `limitMs`. */
  wait(signal: AbortSignal, limitMs?: number): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const end = (isNotified: boolean): void => {
        this.#waiting.delete(end);
        timer?.cancel();
        signal.removeEventListener('abort', giveUp);
        resolve(isNotified);
      };
      const giveUp = (): void => {
        end(false);
      };
      const timer = limitMs === undefined ? undefined : this.clock.setTimer(limitMs, giveUp);
      this.#waiting.add(end);
      signal.addEventListener('abort', giveUp);
    });
  }

  /** Wakes everything that waits now. */
  notify(): void {
    for (const end of [...this.#waiting]) end(true);
  }
}
