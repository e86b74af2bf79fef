import { type Clock, type Timer } from '../time/index.js';

/** One shared timer for all work with the same interval, so that its requests leave together. It runs only while there is work. */
export class Pulse {
  readonly #beats = new Set<() => void>();
  #timer: Timer | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
  ) {}

  /** Calls `beat` at every pulse, until the returned function is called. */
  join(beat: () => void): () => void {
    this.#beats.add(beat);
    if (this.#timer === undefined) this.#schedule(this.clock.now() + this.intervalMs);
    return () => {
      this.#beats.delete(beat);
      if (this.#beats.size === 0) this.stop();
    };
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(dueMs: number): void {
    this.#timer = this.clock.setTimer(dueMs - this.clock.now(), () => {
      // counted from the pulse that was due, so that the rate does not drift; missed pulses are not repeated
      const nextMs = dueMs + this.intervalMs;
      const nowMs = this.clock.now();
      this.#schedule(nextMs > nowMs ? nextMs : nowMs + this.intervalMs);
      for (const beat of [...this.#beats]) beat();
    });
  }
}
