import { afterAll, beforeAll } from '@jest/globals';
import { type ProvidedRedis, provideRedis } from '../../tools/servers/provide-redis.js';
import { RedisServer } from '../../tools/servers/redis-server.js';

/** One Redis for all tests of a file, to use and not to control: REDIS_URL, or one that is started for the file. */
export function useRedis(): () => ProvidedRedis {
  return oneForAll(provideRedis);
}

/** One Redis for all tests of a file, which they may stop, kill and hang. */
export function useRedisServer(): () => RedisServer {
  return oneForAll(() => RedisServer.start());
}

/** One for all tests of a file or of a block. It starts before them and ends after them. */
export function oneForAll<T extends AsyncDisposable>(start: () => Promise<T>): () => T {
  let one: T;
  beforeAll(async () => {
    one = await start();
  });
  afterAll(async () => {
    await one[Symbol.asyncDispose]();
  });
  return () => one;
}
