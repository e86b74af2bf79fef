export { type ProvidedRedis, provideRedis } from './provide-redis.js';
export { RedisServer, type RedisServerOptions } from './redis-server.js';
