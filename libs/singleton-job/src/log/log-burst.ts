import { listSome } from '../base/text/describe-value.js';

/** A line names so many jobs. The others are a count. */
const MAX_NAMES = 10;

/** Jobs of one turn of the event loop that are one line, as when a replica with a thousand jobs starts or stops. */
export class LogBurst {
  readonly #jobs: string[] = [];

  constructor(
    /** Gets their count and some of their names, at the end of the turn. */
    private readonly write: (jobs: string) => void,
    /** So many of them have lines of their own. */
    private readonly maxLines = 0,
  ) {}

  /** Whether the job has a line of its own. */
  add(job: string): boolean {
    const count = this.#jobs.push(job);
    if (count === 1) {
      setImmediate(() => {
        const others = this.#jobs.splice(0).slice(this.maxLines);
        const { length } = others;
        if (length > 0) this.write(`${length} ${length === 1 ? 'job' : 'jobs'} (${listSome(others, MAX_NAMES)})`);
      });
    }
    return count <= this.maxLines;
  }
}
