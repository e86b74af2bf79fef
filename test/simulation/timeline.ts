import { setImmediate as nextTurn } from 'node:timers/promises';

/** Something that will happen. */
export interface Coming {
  readonly at: number;
  /** Undefined: it was called off. */
  happen: (() => unknown) | undefined;
}

/** After so many events the event loop turns, so that a test runner can end a test that never ends. */
const EVENTS_PER_TURN = 2_000;

/** Virtual time. All promises settle between two events, so a story is always the same. */
export class Timeline {
  /** Now, in milliseconds. */
  t = 0;
  /** The next one is the last. */
  readonly #coming: Coming[] = [];

  /** Events of one instant happen in the order in which they were set. */
  at(time: number, happen: () => unknown): Coming {
    const event = { at: Math.max(time, this.t), happen };
    this.#coming.splice(this.#coming.findLastIndex(({ at }) => at > event.at) + 1, 0, event);
    return event;
  }

  after(ms: number, happen: () => unknown): void {
    this.at(this.t + ms, happen);
  }

  /** Resolves at that time. */
  until(t: number): Promise<void> {
    return new Promise((resolve) => this.at(t, resolve));
  }

  sleep(ms: number): Promise<void> {
    return this.until(this.t + ms);
  }

  /** Lets everything happen until `endMs`, or until `isOver`. */
  async letHappen(endMs: number, isOver: () => boolean): Promise<void> {
    for (let count = 1; !isOver(); count++) {
      const event = this.#coming.pop();
      if (event === undefined || event.at > endMs) return;
      if (event.happen === undefined) continue;
      this.t = event.at;
      event.happen();
      await (count % EVENTS_PER_TURN === 0 ? nextTurn() : microtasksDone());
    }
  }
}

function microtasksDone(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** Chance that is the same for the same seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  is(probability: number): boolean {
    return this.next() < probability;
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  oneOf<T>(values: readonly T[]): T {
    return values[Math.floor(this.next() * values.length)] as T;
  }

  shuffled<T>(values: readonly T[]): readonly T[] {
    const drawn = values.map((value) => ({ value, order: this.next() }));
    return drawn.sort((one, other) => one.order - other.order).map(({ value }) => value);
  }
}
