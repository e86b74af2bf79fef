/** So many lines of one turn of the event loop are written. The others are one line with a count, and debug lines. */
const MOST_LINES = 10;
const MOST_NAMED = 5;

/** Lines of one kind about many jobs at once, as when a replica with a thousand jobs starts or stops. */
export class LogBurst {
  #lines = 0;
  readonly #others: string[] = [];

  constructor(
    private readonly sink: { log(line: string): void; debug(line: string): void },
    /** The line about the jobs beyond the first ones: a count, and some names. */
    private readonly describe: (jobs: string) => string,
  ) {}

  write(job: string, line: string): void {
    this.#lines += 1;
    if (this.#lines === 1) {
      setImmediate(() => {
        this.#end();
      });
    }
    if (this.#lines <= MOST_LINES) {
      this.sink.log(line);
      return;
    }
    this.#others.push(job);
    this.sink.debug(line);
  }

  #end(): void {
    const others = this.#others.splice(0);
    this.#lines = 0;
    if (others.length === 0) return;
    const names = others.slice(0, MOST_NAMED).join(', ');
    this.sink.log(this.describe(`${others.length} more: ${names}${others.length > MOST_NAMED ? ', …' : ''}`));
  }
}
