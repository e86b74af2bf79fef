import { setMaxListeners } from 'node:events';
import { LockStoreError } from '../base/errors/lock-store.error.js';
import { givenKey, LocksClosedError, LockUnavailableError } from '../base/errors/lock.errors.js';
import { InvalidLockError } from '../base/errors/mistakes.errors.js';
import { type Replica } from '../leadership/replica.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { LinkedAbortController } from '../base/time/linked-abort-controller.js';
import { within } from '../base/time/within.js';
import { KnownLocks } from './known-locks.js';
import { LockHandle } from './lock-handle.js';
import { type LockLease } from './lock-lease.js';
import { type LockKey, type LockOptions, type LockRequest, readLockRequest } from './lock-request.js';
import { winLock } from './win-lock.js';

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
  /** The held locks, each with a promise that resolves when it is released. */
  readonly #handles = new Map<LockHandle, Promise<void>>();
  /** Requests that have not been answered. */
  readonly #requests = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #known: KnownLocks;
  #closed: Promise<void> | undefined;

  /** The module makes it. @internal */
  constructor(
    private readonly options: ResolvedOptions,
    private readonly replica: Replica,
  ) {
    this.#known = new KnownLocks(replica.context.clock);
    // every open request listens to this signal; Node would warn about a leak
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Takes a lock. Resolves to null if another holder has it until `wait` is over. The lock is not reentrant: pass the handle down instead.
   *
   * @throws InvalidLockError for a wrong key or wrong options, or if no connection is configured
   * @throws LockStoreError if the store does not answer: it is not known whether the lock is free
   * @throws LocksClosedError when the application has stopped
   * @throws the reason of `signal`
   */
  async tryAcquire(key: LockKey, options?: LockOptions): Promise<LockHandle | null> {
    return this.#tryAcquire(readLockRequest(key, options, this.options));
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
    const request = readLockRequest(key, options, this.options);
    const lock = await this.#tryAcquire(request);
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
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #tryAcquire(request: LockRequest): Promise<LockHandle | null> {
    request.signal?.throwIfAborted();
    this.#open();
    const acquiring = this.#acquire(request);
    this.#requests.add(acquiring);
    try {
      return await acquiring;
    } finally {
      this.#requests.delete(acquiring);
    }
  }

  #open(): void {
    if (this.#closing.signal.aborted) throw new LocksClosedError();
    if (this.options.connection === undefined && this.options.store === undefined)
      throw new InvalidLockError([NOWHERE]);
    this.replica.open();
  }

  async #acquire(request: LockRequest): Promise<LockHandle | null> {
    const { name, expiryMs, signal } = request;
    const { known, remove } = this.#known.addUser(name, expiryMs);
    const stop = new LinkedAbortController(this.#closing.signal, ...(signal === undefined ? [] : [signal]));
    try {
      const lease = await winLock(this.replica, { ...request, known }, stop.signal);
      const handle = lease === null ? null : this.#keep(lease);
      const isUsable = !stop.signal.aborted && handle?.isHeld() !== false;
      if (isUsable) return handle;
      void handle?.release();
      signal?.throwIfAborted();
      if (this.#closing.signal.aborted) throw new LocksClosedError();
      throw new LockStoreError(
        'STORE_UNREACHABLE',
        `the lock '${givenKey(name)}' was granted, but its lease had ended before the answer came. Try again`,
      );
    } finally {
      remove();
      stop.dispose();
    }
  }

  /** Keeps a lock alive until it is released or lost. */
  #keep(lease: LockLease): LockHandle {
    const { name, expiryMs } = lease;
    const { remove } = this.#known.addUser(name, expiryMs);
    const stopRenewing = lease.keepAlive();
    let givenBack: () => void = () => undefined;
    const isGivenBack = new Promise<void>((resolve) => {
      givenBack = resolve;
    });
    const handle: LockHandle = new LockHandle(name, lease, async () => {
      stopRenewing();
      const isConfirmed = await lease.release();
      this.#handles.delete(handle);
      remove();
      givenBack();
      return isConfirmed;
    });
    this.#handles.set(handle, isGivenBack);
    // a lost lock is not released here: its owner does that when the work has ended
    lease.signal.addEventListener('abort', () => {
      if (lease.isReleased) return;
      this.#handles.delete(handle);
      remove();
    });
    return handle;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    for (const handle of this.#handles.keys()) handle.recall();
    await this.#waitFor(RECALL_MS, [...this.#handles.values(), ...this.#requests]);
    await this.#waitFor(
      GIVE_BACK_MS,
      [...this.#handles.keys()].map((handle) => handle.release()),
    );
  }

  async #waitFor(limitMs: number, work: readonly Promise<unknown>[]): Promise<void> {
    if (work.length > 0) await within(this.replica.context.clock, limitMs, Promise.allSettled(work));
  }
}
