import { type Clock, type Instant } from '../base/time/clock.js';

/** The clock of the store: its latest answer plus the monotonic time since then. */
export class StoreClock {
  #latest = { time: 0, sentMs: -Infinity, atMs: 0 };

  constructor(private readonly clock: Clock) {}

  /** The store answered with its time to a request that was sent at `sent`. The answer to an older request is less exact, so it is ignored. */
  learn(time: number, sent: Instant): void {
    if (sent.now >= this.#latest.sentMs) this.#latest = { time, sentMs: sent.now, atMs: this.clock.now() };
  }

  /** Behind by a round trip at most. */
  now(): number {
    return this.#latest.time + (this.clock.now() - this.#latest.atMs);
  }

  /** Never behind: as if the store had answered when the latest request was sent. Ahead by a round trip at most. */
  nowAtMost(): number {
    return this.#latest.time + (this.clock.now() - this.#latest.sentMs);
  }
}
