import { type Timeline } from './timeline.js';

export interface PipeParts {
  readonly timeline: Timeline;
  /** The latency of the next data, unless earlier data takes longer. */
  readonly travelMs: () => number;
  /** Whether data arrives at the moment. */
  readonly isOpen: () => boolean;
  /** Called when data arrives after a {@link Pipe.delay}. */
  readonly arrivedLate?: () => void;
}

/** One direction of a connection. Data arrives in order, and late if the path is blocked. */
export class Pipe {
  readonly #parts: PipeParts;
  #lastMs = 0;
  #held: (() => void)[] = [];
  #lateMs: number | undefined;

  constructor(parts: PipeParts) {
    this.#parts = parts;
  }

  send(arrive: () => void): void {
    const { timeline, travelMs } = this.#parts;
    this.#lastMs = Math.max(this.#lastMs, timeline.nowMs + travelMs());
    timeline.at(this.#lastMs, () => {
      this.#arrive(arrive);
    });
  }

  /** The path may be open again: the data that was held arrives in order. */
  flush(): void {
    if (!this.#parts.isOpen()) return;
    const held = this.#held;
    this.#held = [];
    for (const arrive of held) this.#parts.timeline.after(0, arrive);
  }

  /** Data that has not arrived by now arrives so much later, on another path. Infinity: never. */
  delay(lateMs: number): void {
    this.#lateMs = lateMs;
    const held = this.#held;
    this.#held = [];
    for (const arrive of held) this.#arrive(arrive);
  }

  #arrive(arrive: () => void): void {
    if (this.#lateMs !== undefined) {
      if (this.#lateMs < Infinity)
        this.#parts.timeline.after(this.#lateMs, () => {
          this.#parts.arrivedLate?.();
          arrive();
        });
    } else if (this.#held.length > 0 || !this.#parts.isOpen()) {
      this.#held.push(arrive);
    } else {
      arrive();
    }
  }
}
