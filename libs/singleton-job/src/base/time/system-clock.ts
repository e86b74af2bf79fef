import { type Clock, type Timer } from './clock.js';
import { madeDetached } from './detached.js';

/** With a longer delay than this, `setTimeout` fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export class SystemClock implements Clock {
  /** How far the wall clock is ahead of the monotonic one, according to the last `Date.now()`. */
  #wallAheadMs = Date.now() - this.now();

  /** All threads of a machine share it. `performance.now()` begins at 0 in each thread. */
  now(): number {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  }

  /**
   * `Date.now()` with a fraction of a millisecond, which comes from the monotonic clock. It follows each step of the
   * wall clock at once, and always differs from it by less than a millisecond.
   */
  wallNow(now = this.now()): number {
    const fine = now + this.#wallAheadMs;
    const shown = Date.now();
    if (fine >= shown && fine < shown + 1) return fine;
    // the wall clock was set, or drifts: use the nearest instant at which it shows this millisecond
    const nearest = fine < shown ? shown : shown + 0.999;
    this.#wallAheadMs += nearest - fine;
    return nearest;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    return madeDetached(() => new SystemTimer(delayMs, fire));
  }

  afterIo(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** A class, not closures: a job sets a timer for each tick, and what it keeps lives until then. */
class SystemTimer implements Timer {
  #handle: NodeJS.Timeout | undefined;

  constructor(delayMs: number, fire: () => void) {
    this.#arm(delayMs, fire);
  }

  cancel(): void {
    clearTimeout(this.#handle);
  }

  #arm(delayMs: number, fire: () => void): void {
    const laterMs = delayMs - MAX_TIMEOUT_MS;
    if (laterMs <= 0) this.#handle = setTimeout(fire, Math.ceil(delayMs));
    else this.#handle = setTimeout(this.#arm.bind(this), MAX_TIMEOUT_MS, laterMs, fire);
  }
}

/**
 * The same, for a process whose store is in its memory: nothing arrives from a network, so nothing waits for a turn of
 * the event loop.
 */
export class InProcessClock extends SystemClock {
  override async afterIo(): Promise<void> {
    await Promise.resolve();
  }
}
