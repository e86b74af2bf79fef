import { type Term } from '../leadership/index.js';
import { LockLostError } from '../errors/index.js';

/**
 * A lock that this process has. It is renewed until it is released; works with `await using`. Stop when the
 * signal fires, or check {@link fencingToken} where you write: a lock cannot be taken back from a process that was paused.
 */
export class LockHandle implements AsyncDisposable {
  readonly #loss = new AbortController();
  #released: Promise<boolean> | undefined;

  /** Handles are made by `LockService`. @internal */
  constructor(
    /** What is locked, as it stands in Redis after the project: `lock/nightly-import`. */
    readonly key: string,
    private readonly term: Term,
    private readonly giveBack: () => Promise<boolean>,
  ) {
    term.signal.addEventListener('abort', () => {
      if (term.end !== 'released') this.#lose('may be held by another holder now');
    });
  }

  /** Larger than that of everybody who had this lock before. */
  get fencingToken(): number {
    return this.term.fencingToken;
  }

  /**
   * Fires when the lock can no longer be trusted, at its safe deadline at the latest, and when the application stops, just
   * before the lock is given back. Not when you release it.
   */
  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  /** Whether the lock is still this process's, by its own clocks: free, and right also when no timer could fire yet. */
  isHeld(): boolean {
    return this.term.isTrusted();
  }

  /**
   * Releases the lock, once, however often it is called. Resolves to whether Redis has
   * confirmed that within two seconds; if not, it is released in the background, or expires by itself. Never rejects.
   */
  release(): Promise<boolean> {
    this.#released ??= this.giveBack();
    return this.#released;
  }

  /** Releases the lock at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Fires the signal of a lock that is about to be given back for its owner. For `LockService`. @internal */
  recall(): void {
    if (this.#released === undefined) this.#lose('is given back, because the application stops');
  }

  #lose(why: string): void {
    this.#loss.abort(new LockLostError(this.key, why));
  }
}
