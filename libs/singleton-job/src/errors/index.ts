/** The errors that users see. */
export { UnknownJobError } from './job-registry.errors.js';
export { asLockStoreError, LockStoreError, type LockStoreErrorCode } from './lock-store.error.js';
export { givenKey, LockLostError, LocksClosedError, LockUnavailableError } from './lock.errors.js';
export { messageOf, stackOf } from './message-of.js';
export { InvalidJobsError, InvalidLockError, InvalidOptionsError } from './mistakes.errors.js';
export { ABORT_REASONS, LeaseLostError, type RunAbortCode, RunAbortedError } from './run.errors.js';
export { SingletonJobError } from './singleton-job.error.js';
