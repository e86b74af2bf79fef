/** Sessions and locks in Redis. Whoever imports this loads ioredis. */
export { RedisLockStore, type RedisLockStoreOptions } from './redis-lock-store.js';
