// The demo imports these from here; it moves on to ../replicas when it is rewritten.
export { provideRedis, RedisServer } from '../replicas/redis/index.js';
