import { afterAll, beforeAll } from '@jest/globals';
import { type ProvidedRedis, provideRedis } from '../../tools/servers/provide-redis.js';
import { RedisServer } from '../../tools/servers/redis-server.js';

/** One Redis for all tests of a file, to use and not to control: REDIS_URL, or one that is started for the file. */
export function useRedis(): () => ProvidedRedis {
  return oneForTheFile(provideRedis);
}

/** One Redis for all tests of a file, which they may stop, kill and hang. */
export function useRedisServer(): () => RedisServer {
  return oneForTheFile(() => RedisServer.start());
}

function oneForTheFile<T extends ProvidedRedis>(start: () => Promise<T>): () => T {
  let server: T;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  return () => server;
}
