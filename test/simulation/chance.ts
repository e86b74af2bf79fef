/** Chance that is the same for the same seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = 1 + (seed % 0x7ffffffe);
  }

  /** In [0, 1): the generator MINSTD. */
  readonly next = (): number => {
    this.#state = (this.#state * 48_271) % 0x7fffffff;
    return this.#state / 0x7fffffff;
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
}
