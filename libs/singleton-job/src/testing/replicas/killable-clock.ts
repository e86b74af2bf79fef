import { type Clock, type Timer } from '../../time/index.js';

/** The clock of one replica, on which nothing fires any more once the replica is killed. */
export class KillableClock implements Clock {
  readonly #timers = new Set<Timer>();
  #isAlive = true;

  constructor(private readonly common: Clock) {}

  now(): number {
    return this.common.now();
  }

  wallNow(): number {
    return this.common.wallNow();
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    if (!this.#isAlive) return { cancel: () => undefined };
    const timer = this.common.setTimer(delayMs, () => {
      this.#timers.delete(timer);
      fire();
    });
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  afterIo(): Promise<void> {
    return this.common.afterIo();
  }

  kill(): void {
    this.#isAlive = false;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
