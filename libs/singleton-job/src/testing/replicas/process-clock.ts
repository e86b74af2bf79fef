import { type Clock, type Timer } from '../../base/time/clock.js';

/** The clock of one replica: the time of all, until its process is killed. */
export class ProcessClock implements Clock {
  isKilled = false;
  readonly #timers = new Set<Timer>();

  constructor(protected readonly common: Clock) {}

  now(): number {
    return this.common.now();
  }

  wallNow(): number {
    return this.common.wallNow();
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const pending = this.common.setTimer(delayMs, () => {
      this.#timers.delete(timer);
      fire();
    });
    const cancel = (): void => {
      this.#timers.delete(timer);
      pending.cancel();
    };
    const timer = { cancel };
    this.#timers.add(timer);
    if (this.isKilled) cancel();
    return timer;
  }

  afterIo(): Promise<void> {
    return this.common.afterIo();
  }

  /** Something arrives from the network. Never once the process is killed. */
  deliver(arrive: () => void): void {
    if (!this.isKilled) arrive();
  }

  /** The process is gone: no timer fires, nothing arrives. */
  kill(): void {
    this.isKilled = true;
    for (const timer of this.#timers) timer.cancel();
  }
}
