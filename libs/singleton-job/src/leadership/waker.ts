import { sleep, type Clock } from '../time/index.js';

/**
 * Wakes one follower. It is level-triggered: a wake-up that comes while nobody waits, because a bid is just in flight,
 * is kept for the next wait, so that a release cannot be missed.
 */
export class Waker {
  #woken = new AbortController();

  wake(): void {
    this.#woken.abort();
  }

  /** Forgets the wake-ups until now: a bid that is about to be sent will answer them. */
  clear(): void {
    if (this.#woken.signal.aborted) this.#woken = new AbortController();
  }

  /** Resolves after `delayMs`, or as soon as it is woken; at once if it was woken since the last {@link clear}. */
  wait(clock: Clock, delayMs: number): Promise<void> {
    return sleep(clock, delayMs, this.#woken.signal);
  }
}
