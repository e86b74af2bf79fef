import { abortController } from '../base/time/sleep.js';
import { labelOf } from '../leadership/record.js';
import { type TermHandle } from '../leadership/term.js';
import { LockLostError } from './lock.errors.js';

/**
 * A lock that this process holds. It is valid as long as the lease of the replica, until it is released, and works with
 * `await using`. Stop your work when the signal fires. Pass {@link fencingToken} to the resource that you write to:
 * nothing else stops a process that was suspended.
 */
export class LockHandle implements AsyncDisposable {
  /** The name of the lock in events: `lock/nightly-import`. */
  readonly key: string;
  /** Larger than that of every earlier holder of this lock. */
  readonly fencingToken: number;
  /** Aborts once: when the lock is lost, or when the application stops. */
  readonly #loss = abortController();
  readonly #term: TermHandle;
  readonly #release: () => Promise<boolean>;
  /** What the first call of {@link release} resolves to. Undefined: the lock has not been released. */
  #released: Promise<boolean> | undefined;

  /** Handles are made by `LockService`. @internal */
  constructor(term: TermHandle, release: () => Promise<boolean>) {
    this.key = labelOf(term.name);
    this.fencingToken = term.fencingToken;
    this.#term = term;
    this.#release = release;
    term.whenOver(this.#lose.bind(this, 'may be held by another holder now'));
  }

  /**
   * Fires when the lock is no longer valid, at its deadline at the latest. Fires also when the application stops, just
   * before the lock is released. It does not fire when you release the lock.
   */
  get signal(): AbortSignal {
    return this.#loss.signal;
  }

  /**
   * Whether this process still holds the lock. Reads only the local clocks, so it is correct also when no timer could
   * fire yet.
   */
  isHeld(): boolean {
    return this.#released === undefined && this.#term.isValid();
  }

  /**
   * Releases the lock. Later calls return the same promise. Resolves to whether the store confirmed the release within
   * two seconds. If not, the lock is released in the background, or expires by itself. Never rejects.
   */
  release(): Promise<boolean> {
    return (this.#released ??= this.#release());
  }

  /** Releases the lock at the end of an `await using` block. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** Fires the signal, because the application stops. Resolves when the term is over. @internal */
  abort(): Promise<void> {
    this.#lose('is released, because the application stops');
    return new Promise(this.#term.whenOver.bind(this.#term));
  }

  #lose(why: string): void {
    if (this.#released === undefined) this.#loss.abort(new LockLostError(this.key, why));
  }
}
