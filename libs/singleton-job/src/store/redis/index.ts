/** Sessions and locks in Redis. An import of this file loads ioredis. */
export { RedisLockStore, type RedisLockStoreOptions } from './redis-lock-store.js';
