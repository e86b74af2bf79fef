/** For tests of applications and of stores: clocks, runs, replicas in memory, the contract of a store. */
export { type MemoryData, MemoryStore } from '../store/memory.js';
export { type Clock, type Timer } from '../base/time/clock.js';
export { FakeRun, type FakeRunOptions } from './fake-run.js';
export { describeStore, type StoreSuite, type TestRunner } from './store-suite/describe-store.js';
export { type StoreFixture } from './store-suite/store-fixture.js';
export { ManualClock } from './manual-clock.js';
export { type RecordedEvent, RecordingObserver } from './recording-observer.js';
export { type InMemoryReplica, type InMemoryReplicaOptions } from './replicas/in-memory-replica.js';
export { InMemoryReplicas } from './replicas/in-memory-replicas.js';
export { FaultyServer } from './faulty-server.js';
