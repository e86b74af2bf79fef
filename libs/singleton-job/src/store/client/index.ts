/** Between leadership and the store: one connection state, and requests that are sent until they are answered. */
export { backoffMs, shortPauseMs } from './backoff.js';
export { Semaphore } from './semaphore.js';
export { type RequestKind, StoreClient } from './store-client.js';
