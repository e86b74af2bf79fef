const KEPT = 20;

/** What the workers printed last, for the case that one of them breaks; with `isShown` each line is also printed at once. */
export class LogTail {
  readonly #lines: string[] = [];

  constructor(private readonly isShown: boolean) {}

  readonly add = (line: string): void => {
    if (this.isShown) console.log(line);
    this.#lines.push(line);
    if (this.#lines.length > KEPT) this.#lines.shift();
  };

  get lines(): readonly string[] {
    return this.#lines;
  }
}
