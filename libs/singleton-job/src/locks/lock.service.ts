import { InvalidLockError } from '../base/errors/mistakes.errors.js';
import { refuseUndone } from '../base/errors/refuse-undone.js';
import { describeValue } from '../base/text/describe-value.js';
import { abortController, within } from '../base/time/sleep.js';
import { labelOf } from '../leadership/record.js';
import { type LockHandle } from './lock-handle.js';
import { type LockKey, type LockOptions, type LockRequest, readLockRequest } from './lock-request.js';
import { givenKey, LocksClosedError, LockUnavailableError } from './lock.errors.js';
import { Lock, type LockParts } from './lock.js';

/**
 * How long callers may take at a stop until they have released their locks. What is left then is released with the
 * jobs.
 */
const STOP_MS = 500;

const NO_CONNECTION = 'connection must be given to lock anything, got undefined: set it, also where enabled is false';

type LockedFunction<T> = (lock: LockHandle) => T | Promise<T>;

/**
 * Locks for one global operation at a time: a migration, an import, a rebuild. To lock one row among many, claim the
 * row in your database. The locks are leases like those of jobs, on the same connection.
 *
 * @example `constructor(private readonly locks: LockService) {}`
 */
export class LockService {
  /** Every open request listens to its signal. */
  readonly #closing = abortController();

  /** The module makes it. @internal */
  constructor(private readonly parts: LockParts) {}

  /**
   * Takes a lock. Resolves to null if another holder has it until `wait` is over. The lock is not reentrant: pass the
   * handle down instead.
   *
   * @throws InvalidLockError for a wrong key or wrong options, or if no connection is configured
   * @throws StoreError if it is not known who has the lock: the store does not answer, or was restarted less than a
   * `lockExpiry` ago
   * @throws LocksClosedError when the application has stopped
   * @throws the reason of `signal`
   */
  async tryAcquire(key: LockKey, options?: LockOptions): Promise<LockHandle | null> {
    return this.#acquire(readLockRequest(key, options));
  }

  async #acquire({ record, waitMs, signal }: LockRequest): Promise<LockHandle | null> {
    const stops = [signal ?? [], this.#closing.signal].flat();
    for (const stop of stops) stop.throwIfAborted();
    const { options: settings, replica } = this.parts;
    if (settings.connection === undefined && settings.store === undefined) throw new InvalidLockError([NO_CONNECTION]);
    replica.open();
    const existing = replica.find(record)?.candidate;
    const lock = existing instanceof Lock ? existing : new Lock(record, this.parts);
    return lock.acquire(waitMs, stops);
  }

  /**
   * Runs a function while it holds a lock, and releases the lock when the function has settled. Resolves to the result
   * of the function. A result whose work is not done yet, such as an Observable or a stream, is refused.
   *
   * @example await locks.withLock('nightly-import', (lock) => importAll({ signal: lock.signal }));
   * @throws LockUnavailableError if another holder has the lock, and all that {@link tryAcquire} and the function throw
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
    if (typeof fn !== 'function')
      throw new InvalidLockError([
        `the last argument must be a function, got ${describeValue(fn)}: pass it without calling it`,
      ]);
    await using lock = await this.#acquire(request);
    const { record } = request;
    if (lock !== null) return refuseUndone(await fn(lock), `the function of lock '${givenKey(labelOf(record))}'`);
    const isHeldHere = this.parts.replica.find(record)?.term !== undefined;
    throw new LockUnavailableError(labelOf(record), isHeldHere);
  }

  /** Ends all waiting, and fires the signals of all held locks. For the module. @internal */
  async close(): Promise<void> {
    const { replica } = this.parts;
    this.#closing.abort(new LocksClosedError());
    const owners = replica.elections.flatMap(({ candidate }) => (candidate instanceof Lock && candidate.owner) || []);
    await within(replica.clock, STOP_MS, Promise.all(owners.map((handle) => handle.abort())));
  }
}
