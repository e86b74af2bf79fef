/** For tests of applications and of stores: clocks, runs, replicas in memory, the contract of a store. */
export { type ServerData } from '../store/memory/in-memory-sessions.js';
export { InMemoryLockStore } from '../store/memory/in-memory-store.js';
export { type Clock, type Timer } from '../base/time/clock.js';
export { FakeRun, type FakeRunOptions } from './fake-run.js';
export {
  describeLockStore,
  type LockStoreSuite,
  type OptionalGroup,
  type TestRunner,
} from './lock-store-contract/describe-lock-store.js';
export { type LockStoreFixture } from './lock-store-contract/lock-store-fixture.js';
export { ManualClock, settle } from './manual-clock.js';
export { type RecordedEvent, RecordingObserver } from './recording-observer.js';
export { type InMemoryReplica, type InMemoryReplicaOptions } from './replicas/in-memory-replica.js';
export { InMemoryReplicas } from './replicas/in-memory-replicas.js';
export { TestServer } from './test-server.js';
