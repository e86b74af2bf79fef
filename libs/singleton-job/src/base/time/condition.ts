import { type Clock } from './clock.js';
import { LinkedAbortController } from './linked-abort-controller.js';
import { sleep } from './sleep.js';

/** A condition variable: its callers wait until something holds, and look at it whenever they are notified. */
export class Condition {
  readonly #waiting = new Set<AbortController>();

  constructor(private readonly clock: Clock) {}

  /** Resolves to whether `isMet` within `limitMs`. It is called now and at each {@link notify}, and no more once a signal has aborted. */
  async until(isMet: () => boolean, limitMs: number, ...signals: readonly AbortSignal[]): Promise<boolean> {
    const endMs = this.clock.now() + limitMs;
    while (!signals.some(({ aborted }) => aborted)) {
      if (isMet()) return true;
      const restMs = endMs - this.clock.now();
      if (restMs <= 0) return false;
      const woken = new LinkedAbortController(...signals);
      this.#waiting.add(woken);
      await sleep(this.clock, restMs, woken.signal);
      this.#waiting.delete(woken);
      woken.dispose();
    }
    return false;
  }

  /** Wakes everything that waits now. */
  notify(): void {
    for (const woken of this.#waiting) woken.abort();
  }
}
