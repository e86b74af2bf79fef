/** Who asks about which name in one process: whoever bids for it, has its lock, or gives it back. */
export class Askers {
  readonly #counts = new Map<string, number>();

  /** `onLeft` is told of a name that nobody asks about any more. */
  constructor(private readonly onLeft: (name: string) => void) {}

  /** Somebody asks about a name until the returned function is called, be it more than once. */
  enter(name: string): () => void {
    this.#counts.set(name, this.#count(name) + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#leave(name);
    };
  }

  #leave(name: string): void {
    const others = this.#count(name) - 1;
    if (others > 0) {
      this.#counts.set(name, others);
    } else {
      this.#counts.delete(name);
      this.onLeft(name);
    }
  }

  #count(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}
