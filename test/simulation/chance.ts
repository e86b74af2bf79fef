/** Reproducible chance: the same seed gives the same scenario. (The mulberry32 generator.) */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A separate chance for each use of a seed, so that the draws of one use do not change the others. */
  static of(seed: number, use: string): Chance {
    let hash = 0x811c9dc5 ^ seed;
    for (let index = 0; index < use.length; index++) hash = Math.imul(hash ^ use.charCodeAt(index), 0x01000193);
    const chance = new Chance(Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) ^ Math.imul(seed, 0x9e3779b1));
    chance.next();
    return chance;
  }

  /** In [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };

  /** In [least, most). */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** True in `share` of all cases. */
  happens(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.next() * choices.length)] ?? choices[0];
  }
}
