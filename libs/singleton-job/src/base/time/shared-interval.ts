import { type Clock, type Timer } from './clock.js';

/** One shared timer for all work with the same interval, so that its requests leave together. It runs only while there is work. */
export class SharedInterval {
  readonly #work = new Set<() => void>();
  #timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
  ) {}

  /** Calls `work` once an interval, until the returned function is called. */
  add(work: () => void): () => void {
    this.#work.add(work);
    if (this.#timer === undefined) this.#schedule(this.clock.now() + this.intervalMs);
    return () => {
      this.#work.delete(work);
      if (this.#work.size === 0) this.stop();
    };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(dueMs: number): void {
    this.#timer = this.clock.setTimer(dueMs - this.clock.now(), () => {
      // counted from the time that was due, so that the rate does not drift; missed turns are not repeated
      const nextMs = dueMs + this.intervalMs;
      const nowMs = this.clock.now();
      this.#schedule(nextMs > nowMs ? nextMs : nowMs + this.intervalMs);
      for (const work of [...this.#work]) work();
    });
  }
}
