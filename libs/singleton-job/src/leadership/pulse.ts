import { type Clock, type Timer } from '../time/index.js';

/** One pulse for everything that is repeated at one interval, so that it leaves together. It beats only while there is anything. */
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
      // counted from the pulse that was due, so that the rate does not drift; a pulse that was missed is not made up for
      const nextMs = dueMs + this.intervalMs;
      const nowMs = this.clock.now();
      this.#schedule(nextMs > nowMs ? nextMs : nowMs + this.intervalMs);
      for (const beat of [...this.#beats]) beat();
    });
  }
}
