import { type Clock } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';

/** A condition variable: its callers wait until something holds, and look at it whenever they are notified. */
export class Condition {
  readonly #waiting = new Set<AbortController>();

  constructor(private readonly clock: Clock) {}

  /**
   * Resolves to whether `isMet` within `limitMs`. It is called now and at each {@link notify}, and no more once a
   * signal has aborted.
   */
  async until(isMet: () => boolean, limitMs: number, ...signals: readonly AbortSignal[]): Promise<boolean> {
    const endsAt = this.clock.now() + limitMs;
    while (!signals.some(({ aborted }) => aborted)) {
      if (isMet()) return true;
      const restMs = endsAt - this.clock.now();
      if (restMs <= 0) return false;
      const notified = new AbortController();
      this.#waiting.add(notified);
      // not AbortSignal.any: in Node 20 to 24 its signal stays in memory for as long as its sources live, some of them
      // as long as the process
      await sleep(this.clock, restMs, notified.signal, ...signals);
      this.#waiting.delete(notified);
    }
    return false;
  }

  /** Wakes everything that waits now. */
  notify(): void {
    for (const notified of this.#waiting) notified.abort();
  }
}
