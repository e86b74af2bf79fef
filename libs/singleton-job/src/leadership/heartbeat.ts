import { type Clock, type Timer } from '../time/index.js';

/** One pulse for all leases of the process: their renewals leave together. It beats only while there are any. */
export class Heartbeat {
  readonly #beats = new Set<() => void>();
  #timer: Timer | undefined;

  /** `together` runs a function that sends and lets what it sends leave in one write. */
  constructor(
    private readonly clock: Clock,
    private readonly intervalMs: number,
    private readonly together: (send: () => void) => void,
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
      this.together(() => {
        for (const beat of this.#beats) beat();
      });
    });
  }
}
