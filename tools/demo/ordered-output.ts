/** How long a message may be on its way from a replica. */
const LATENCY_MS = 60;

interface Entry {
  readonly atMs: number;
  readonly lines: () => readonly string[];
}

/**
 * Prints what happened in several processes in the order in which it happened: each entry waits a moment for earlier ones
 * that are still on their way. Its lines are asked for when its turn has come.
 */
export class OrderedOutput {
  #waiting: Entry[] = [];

  constructor(private readonly print: (line: string) => void) {}

  add(entry: Entry): void {
    this.#waiting.push(entry);
    setTimeout(() => {
      this.#printUntil(Date.now() - LATENCY_MS);
    }, LATENCY_MS + 1);
  }

  /** Prints all that waits. */
  flush(): void {
    this.#printUntil(Infinity);
  }

  #printUntil(limitMs: number): void {
    const ready = this.#waiting.filter(({ atMs }) => atMs <= limitMs);
    this.#waiting = this.#waiting.filter(({ atMs }) => atMs > limitMs);
    // equal times keep the order of their arrival
    for (const { lines } of ready.toSorted((one, other) => one.atMs - other.atMs))
      for (const line of lines()) this.print(line);
  }
}
