/** A time in which the store does not answer, as one process sees it. */
export class Outage {
  /** Once a second question was not answered. */
  isTold = false;
  readonly #jobs: Set<string>;

  /** `first` is the question that was not answered. */
  constructor(
    readonly sinceMs: number,
    private readonly first: { readonly job: string; readonly deadlineMs: number },
  ) {
    this.#jobs = new Set([first.job]);
  }

  /** Whose questions have failed in it, the latest at the end of the line. Never empty. */
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

  /** Nobody asks for it any more. The last one is kept, to ask about. */
  forget(job: string): void {
    if (this.#jobs.size > 1) this.#jobs.delete(job);
  }
}
