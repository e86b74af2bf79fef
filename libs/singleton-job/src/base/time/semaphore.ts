/** Runs at most `size` functions at once. The others wait in order. */
export class Semaphore {
  #free: number;
  readonly #queue = new Set<() => void>();

  constructor(size: number) {
    this.#free = size;
  }

  /** Undefined if `signal` aborted before it was the turn of `work`: then `work` is not called. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    if (this.#free > 0) this.#free -= 1;
    else if (!(await this.#turn(signal))) return undefined;
    try {
      return await work();
    } finally {
      const [next] = this.#queue;
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isTurn: boolean): void => {
        this.#queue.delete(go);
        signal.removeEventListener('abort', leave);
        resolve(isTurn);
      };
      const go = (): void => {
        end(true);
      };
      const leave = (): void => {
        end(false);
      };
      this.#queue.add(go);
      signal.addEventListener('abort', leave);
      if (signal.aborted) leave();
    });
  }
}
