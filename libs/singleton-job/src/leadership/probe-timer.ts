import { type Clock, type Timer } from '../time/index.js';

/** One timer, which can be set to go off sooner and not later. */
export class ProbeTimer {
  #timer: Timer | undefined;
  #dueMs = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly fire: () => void,
  ) {}

  /** Goes off after `delayMs`, unless it does so sooner already. */
  set(delayMs: number): void {
    const dueMs = this.clock.now() + delayMs;
    if (dueMs >= this.#dueMs) return;
    this.cancel();
    this.#dueMs = dueMs;
    this.#timer = this.clock.setTimer(delayMs, () => {
      this.cancel();
      this.fire();
    });
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Infinity;
  }
}
