/**
 * A question that is asked until any of its tries is answered, in time or not: an answer that comes after its try was given
 * up is as certain as any, and on a slow connection there may never be another.
 */
export class Inquiry<T> {
  readonly #done = new AbortController();
  #answer: T | undefined;

  /** `signal` aborts when nobody wants to know any longer. */
  constructor(private readonly signal: AbortSignal) {
    if (signal.aborted) this.#done.abort();
    else signal.addEventListener('abort', this.close);
  }

  /** Aborts when there is nothing more to ask. */
  get done(): AbortSignal {
    return this.#done.signal;
  }

  /** The first answer to any try. */
  get answer(): T | undefined {
    return this.#answer;
  }

  /** A try was answered. */
  answered(answer: T): void {
    this.#answer ??= answer;
    this.#done.abort();
  }

  readonly close = (): void => {
    this.signal.removeEventListener('abort', this.close);
    this.#done.abort();
  };
}
