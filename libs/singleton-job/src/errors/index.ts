/** The errors that users see. */
export { InvalidJobsError, InvalidOptionsError } from './configuration.errors.js';
export { UnknownJobError } from './job-registry.errors.js';
export { asLockStoreError, LockStoreError, type LockStoreErrorCode } from './lock-store.error.js';
export { InvalidLockError, LockLostError, LocksClosedError, LockUnavailableError } from './lock.errors.js';
export { messageOf, stackOf } from './message-of.js';
export { LeaseLostError, type RunAbortCode, RunAbortedError } from './run.errors.js';
export { SingletonJobError } from './singleton-job.error.js';
