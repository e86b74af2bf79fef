export {
  describeLockStore,
  type LockStoreSuite,
  type OptionalChapter,
  type TestRunner,
} from './describe-lock-store.js';
export { type LockStoreWorld } from './lock-store-world.js';
export {
  acquireRequest,
  eventually,
  granted,
  heartbeat,
  kept,
  LONG_MS,
  refused,
  sessionOfReplica,
} from './requests.js';
