import { type World } from './world.js';

export interface PipeParts {
  readonly world: World;
  /** How long the next thing travels, unless what was sent before takes longer. */
  readonly travelMs: () => number;
  /** Whether anything arrives at the moment. */
  readonly isOpen: () => boolean;
}

/** One direction of a connection: what is sent arrives in order, and late if the way is blocked. */
export class Pipe {
  readonly #parts: PipeParts;
  #lastMs = 0;
  #held: (() => void)[] = [];
  #lateMs: number | undefined;

  constructor(parts: PipeParts) {
    this.#parts = parts;
  }

  send(arrive: () => void): void {
    const { world, travelMs } = this.#parts;
    this.#lastMs = Math.max(this.#lastMs, world.nowMs + travelMs());
    world.at(this.#lastMs, () => {
      this.#arrive(arrive);
    });
  }

  /** The way may be open again: what was held arrives, in order. */
  flush(): void {
    if (!this.#parts.isOpen()) return;
    const held = this.#held;
    this.#held = [];
    for (const arrive of held) this.#parts.world.after(0, arrive);
  }

  /** What has not arrived by now comes so much later, by a way of its own. Infinity: never. */
  delay(lateMs: number): void {
    this.#lateMs = lateMs;
    const held = this.#held;
    this.#held = [];
    for (const arrive of held) this.#arrive(arrive);
  }

  #arrive(arrive: () => void): void {
    if (this.#lateMs !== undefined) {
      if (this.#lateMs < Infinity) this.#parts.world.after(this.#lateMs, arrive);
    } else if (this.#held.length > 0 || !this.#parts.isOpen()) {
      this.#held.push(arrive);
    } else {
      arrive();
    }
  }
}
