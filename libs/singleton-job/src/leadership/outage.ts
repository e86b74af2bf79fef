/** A time in which the store does not answer, as one process sees it. */
export class Outage {
  /** Once a second question was not answered. */
  isTold = false;
  readonly #jobs: Set<string>;
  #namesOfNobody = 0;

  /** `first` is the question that was not answered. */
  constructor(
    readonly sinceMs: number,
    private readonly first: { readonly job: string; readonly deadlineMs: number },
  ) {
    this.#jobs = new Set([first.job]);
  }

  /** Whose questions have failed in it, the latest at the end of the line; not those that nobody asks for any more. */
  get jobs(): readonly string[] {
    return [...this.#jobs];
  }

  /** How long a question may take that is asked for none of them. */
  get deadlineMs(): number {
    return this.first.deadlineMs;
  }

  has(job: string): boolean {
    return this.#jobs.has(job);
  }

  failed(job: string): void {
    this.#jobs.delete(job);
    this.#jobs.add(job);
  }

  /** Nobody asks for it any more. */
  forget(job: string): void {
    this.#jobs.delete(job);
  }

  /**
   * What to ask about while nobody asks: another name each time, so that a single broken one does not prolong the outage.
   * Where nobody asks for any of them it is a name of nobody, each in another hash slot.
   */
  nextName(): string {
    const [job] = this.#jobs;
    if (job === undefined) return `probe/${(this.#namesOfNobody += 1)}`;
    this.failed(job);
    return job;
  }
}
