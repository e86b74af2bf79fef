export { InMemoryLockStore } from './memory/in-memory-lock-store.js';
export {
  type Bid,
  type Claim,
  CLAIM_LEAD_MS,
  type ClaimAnswer,
  type ClaimOutcome,
  type Grant,
  type Holder,
  type LockStore,
  type LockStoreListener,
  ownerOf,
  type Progress,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type ReleaseMessage,
  type Renewal,
  type RenewalAnswer,
  type Replaced,
} from './lock-store.js';
export { type ClusterConnection, type RedisConnection } from './redis/redis-clients.js';
export { RedisLockStore, type RedisLockStoreOptions } from './redis/redis-lock-store.js';
