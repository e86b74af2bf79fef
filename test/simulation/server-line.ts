import { type World } from './world.js';

/**
 * The way into the server: what arrives while it hangs is carried out when it goes on, in the same order. Another server may
 * take its place.
 */
export class ServerLine {
  readonly #world: World;
  #hangs = 0;
  #held: (() => void)[] = [];
  #server = 1;
  readonly #clients = new Set<() => void>();

  constructor(world: World) {
    this.#world = world;
  }

  arrive(carryOut: () => void): void {
    if (this.#hangs > 0) this.#held.push(carryOut);
    else carryOut();
  }

  /** Which server it is that answers now. */
  get server(): number {
    return this.#server;
  }

  /** Calls `reconnect` whenever another server has taken the place of the last. */
  connect(reconnect: () => void): void {
    this.#clients.add(reconnect);
  }

  /** All connections break: what is on its way to the old server, or back from it, arrives nowhere. */
  replaceServer(): void {
    this.#server += 1;
    for (const reconnect of this.#clients) reconnect();
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
