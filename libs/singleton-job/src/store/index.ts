/** The contract of a store, and the stores that keep it. */
export {
  type AcquireRequest,
  type AcquireResult,
  CLAIM_LEAD_MS,
  type ClaimOutcome,
  type ClaimRequest,
  type ClaimResult,
  type Grant,
  type HeartbeatReference,
  type HeartbeatRequest,
  type HeartbeatResult,
  type Holder,
  type JobCommandReply,
  type JobCommandRequest,
  type JobState,
  type ListedSession,
  lockExpiryOf,
  lockLifeMs,
  type LockMessage,
  type LockStore,
  type LockStoreListener,
  type Refusal,
  type RefusalReason,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  holderName,
  replicaOf,
  type SessionId,
  sessionOf,
  type SessionResult,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StateUpdate,
  type StoreMessage,
  type StoreWarning,
} from './lock-store.js';
export { Listeners } from './listeners.js';
export { InMemoryLockStore } from './memory/in-memory-lock-store.js';
export { InMemoryServer } from './memory/in-memory-server.js';
export { lockOf } from './memory/in-memory-locks.js';
export { emptyData, type ServerData } from './memory/server-data.js';
export { type ClusterConnection, type RedisConnectionOptions } from './redis/redis-clients.js';
