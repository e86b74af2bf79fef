import { type Holder, ownerOf } from '../store/index.js';

/**
 * This process as a holder of locks. Every bid has a number of its own in its holder value, so that a command of an
 * earlier bid or term of the same process, arriving late, meets a value that is not its own and changes nothing.
 */
export class Identity {
  #attempts = 0;
  readonly #inUse = new Set<Holder>();

  /** `id` is `nodeId-random`. */
  constructor(readonly id: string) {}

  /** A holder value that no bid has: what it asks for changes nothing. */
  get nobody(): Holder {
    return `${this.id}#0`;
  }

  /** A holder value for a new bid, in use until it is retired. */
  nextHolder(): Holder {
    this.#attempts += 1;
    const holder = `${this.id}#${this.#attempts}`;
    this.#inUse.add(holder);
    return holder;
  }

  /** The bid was answered with no, or its term is over and given back. */
  retire(holder: Holder): void {
    this.#inUse.delete(holder);
  }

  /** Whether a lock is held by a bid of this process that nobody here knows any more: its acquire arrived late. */
  isStray(holder: Holder): boolean {
    return ownerOf(holder) === this.id && !this.#inUse.has(holder);
  }
}
