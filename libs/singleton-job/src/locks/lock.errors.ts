import { SingletonJobError } from '../base/errors/singleton-job.error.js';

/** The key as it was given to `LockService`, and the tenant, if any: `nightly-import` for `lock/nightly-import`. */
export function givenKey(name: string): string {
  return name.replace(/^lock\//, '');
}

/** Thrown when something is locked after the application has stopped. */
export class LocksClosedError extends SingletonJobError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'LOCKS_CLOSED';

  constructor() {
    super('the application has stopped: nothing can be locked any more');
  }
}

/** Thrown by `withLock()` when another holder has the lock, and had it for as long as `wait` allowed. */
export class LockUnavailableError extends SingletonJobError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'LOCK_UNAVAILABLE';

  constructor(
    /** The lock, as in `lock/nightly-import`. */
    readonly key: string,
    /** Whether this very process holds it. @default false */
    isHeldHere = false,
  ) {
    const holder = isHeldHere ? 'this process already (locks are not reentrant)' : 'another holder';
    super(`the lock '${givenKey(key)}' is held by ${holder}`);
  }
}

/**
 * The reason of a handle's `AbortSignal`: another process may have the lock now, or soon, because the application
 * stops.
 */
export class LockLostError extends SingletonJobError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'LOCK_LOST';

  constructor(
    /** The lock, as in `lock/nightly-import`. */
    readonly key: string,
    why: string,
  ) {
    super(`the lock '${givenKey(key)}' ${why}: stop before the next side effect`);
  }
}
