import { type Clock } from './clock.js';
import { LinkedAbortController } from './linked-abort-controller.js';
import { sleep } from './sleep.js';

/** A condition variable: its callers wait until it is notified. */
export class Condition {
  readonly #waiting = new Set<AbortController>();

  constructor(private readonly clock: Clock) {}

  /** Resolves when {@link notify} is called next, after `limitMs`, or when a signal aborts. The caller checks why. */
  async wait(limitMs: number, ...signals: readonly AbortSignal[]): Promise<void> {
    const woken = new LinkedAbortController(...signals);
    this.#waiting.add(woken);
    await sleep(this.clock, limitMs, woken.signal);
    this.#waiting.delete(woken);
    woken.dispose();
  }

  /** Wakes everything that waits now. */
  notify(): void {
    for (const woken of this.#waiting) woken.abort();
  }
}
