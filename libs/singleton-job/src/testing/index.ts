/** For tests of applications and of stores: clocks, runs, replicas in memory, the contract of a store. */
export { InMemoryLockStore, type ServerData } from '../store/index.js';
export { type Clock, type Timer } from '../time/index.js';
export { FakeRun, type FakeRunOptions } from './fake-run.js';
export {
  describeLockStore,
  type LockStoreSuite,
  type LockStoreWorld,
  type OptionalChapter,
  type TestRunner,
} from './lock-store-contract/index.js';
export { ManualClock, settle } from './manual-clock.js';
export { type RecordedEvent, RecordingObserver } from './recording-observer.js';
export { type InMemoryReplica, type InMemoryReplicaOptions } from './replicas/in-memory-replica.js';
export { InMemoryReplicas } from './replicas/in-memory-replicas.js';
export { TestServer } from './test-server.js';
