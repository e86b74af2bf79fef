export { locateRedisServer } from './locate-redis-server.js';
export { type ProvidedRedis, provideRedis } from './provide-redis.js';
export { RedisServer, type RedisServerOptions } from './redis-server.js';
