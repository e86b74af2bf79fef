/** Locks that the application takes without a job. */
export { LockHandle } from './lock-handle.js';
export { type LockKey, type LockOptions } from './lock-request.js';
export { LockService } from './lock.service.js';
