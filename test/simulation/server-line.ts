import { type World } from './world.js';

/** The way into the server: what arrives while it hangs is carried out when it goes on, in the same order. */
export class ServerLine {
  readonly #world: World;
  #hangs = 0;
  #held: (() => void)[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  arrive(carryOut: () => void): void {
    if (this.#hangs > 0) this.#held.push(carryOut);
    else carryOut();
  }

  hang(): void {
    this.#hangs += 1;
  }

  goOn(): void {
    this.#hangs -= 1;
    if (this.#hangs > 0) return;
    const held = this.#held;
    this.#held = [];
    for (const carryOut of held) this.#world.after(0, carryOut);
  }
}
