import { setMaxListeners } from 'node:events';
import { LocksClosedError, LockUnavailableError } from '../base/errors/lock.errors.js';
import { InvalidLockError } from '../base/errors/mistakes.errors.js';
import { LinkedAbortController } from '../base/time/linked-abort-controller.js';
import { onAbort } from '../base/time/on-abort.js';
import { within } from '../base/time/within.js';
import { type Term } from '../leadership/term.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { LockHandle } from './lock-handle.js';
import { type LockKey, type LockOptions, type LockRequest, readLockRequest } from './lock-request.js';
import { Lock, type LockParts } from './lock.js';

/** At a stop: first time for callers to release their locks, then time to release the others. */
const RECALL_MS = 500;
const GIVE_BACK_MS = 500;

const NOWHERE = 'connection must be given to lock anything, got undefined: set it, also where enabled is false';

type LockedFunction<T> = (lock: LockHandle) => T | Promise<T>;

/**
 * Locks for one global operation at a time: a migration, an import, a rebuild. To lock one row among many, claim the row in your
 * database. The locks are leases like those of jobs, on the same connection.
 *
 * @example `constructor(private readonly locks: LockService) {}`
 */
export class LockService {
  readonly #parts: LockParts;
  /** The held locks, each with its term. */
  readonly #handles = new Map<LockHandle, Term>();
  readonly #closing = new AbortController();

  /** The module makes it. @internal */
  constructor(
    private readonly options: ResolvedOptions,
    parts: Omit<LockParts, 'lifeMs' | 'left'>,
  ) {
    this.#parts = { ...parts, lifeMs: options.lockExpiryMs, left: new Map() };
    // every open request listens to this signal; Node would warn about a leak
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Takes a lock. Resolves to null if another holder has it until `wait` is over. The lock is not reentrant: pass the handle down instead.
   *
   * @throws InvalidLockError for a wrong key or wrong options, or if no connection is configured
   * @throws LockStoreError if it is not known who has the lock: the store does not answer, or was restarted less than a `lockExpiry` ago
   * @throws LocksClosedError when the application has stopped
   * @throws the reason of `signal`
   */
  async tryAcquire(key: LockKey, options?: LockOptions): Promise<LockHandle | null> {
    return this.#acquire(readLockRequest(key, options));
  }

  /**
   * Runs a function while it holds a lock, and releases the lock when the function has settled. Resolves to the result of the function.
   *
   * @example await locks.withLock('nightly-import', (lock) => importAll({ signal: lock.signal }));
   * @throws LockUnavailableError if another holder has the lock, and everything that {@link tryAcquire} and the function throw
   */
  withLock<T>(key: LockKey, fn: (lock: LockHandle) => T | Promise<T>): Promise<T>;
  /**
   * The same, with options.
   *
   * @example await locks.withLock('nightly-import', { wait: '5s' }, (lock) => importAll({ signal: lock.signal }));
   */
  withLock<T>(key: LockKey, options: LockOptions | undefined, fn: (lock: LockHandle) => T | Promise<T>): Promise<T>;
  async withLock<T>(
    key: LockKey,
    ...args: [LockedFunction<T>] | [LockOptions | undefined, LockedFunction<T>]
  ): Promise<T> {
    const [options, fn] = args.length === 1 ? [undefined, ...args] : args;
    const request = readLockRequest(key, options);
    const lock = await this.#acquire(request);
    if (lock === null) {
      const isHeldHere = [...this.#handles.keys()].some((handle) => handle.key === request.name);
      throw new LockUnavailableError(request.name, isHeldHere);
    }
    try {
      return await fn(lock);
    } finally {
      await lock.release();
    }
  }

  /** Fires the signals of all held locks, releases them, and ends all waiting. For the module. @internal */
  async close(): Promise<void> {
    const { clock } = this.#parts;
    this.#closing.abort(new LocksClosedError());
    const ends = [...this.#handles.values()].map(({ signal }) => new Promise<void>((end) => onAbort(signal, end)));
    for (const handle of this.#handles.keys()) handle.lose('is given back, because the application stops');
    await within(clock, RECALL_MS, Promise.all(ends));
    await within(clock, GIVE_BACK_MS, Promise.all([...this.#handles.keys()].map((handle) => handle.release())));
  }

  async #acquire({ name, waitMs, signal }: LockRequest): Promise<LockHandle | null> {
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    if (this.options.connection === undefined && this.options.store === undefined)
      throw new InvalidLockError([NOWHERE]);
    this.#parts.replica.open();
    const stop = new LinkedAbortController(this.#closing.signal, ...(signal === undefined ? [] : [signal]));
    const lock = Lock.of(name, this.#parts);
    const term = await lock.acquire(waitMs, stop.signal).finally(() => {
      stop.dispose();
    });
    if (term !== null && !stop.signal.aborted) return this.#keep(name, lock, term);
    if (term !== null) void lock.release(term);
    signal?.throwIfAborted();
    this.#closing.signal.throwIfAborted();
    return null;
  }

  #keep(name: string, lock: Lock, term: Term): LockHandle {
    const handle = new LockHandle(name, term, () => lock.release(term));
    this.#handles.set(handle, term);
    // a lost lock is not released here: its owner does that when the work has ended
    onAbort(term.signal, () => this.#handles.delete(handle));
    return handle;
  }
}
