import { afterAll, beforeAll } from '@jest/globals';
import { type ProvidedRedis, provideRedis, RedisServer, type RedisServerOptions } from './index.js';

/** One Redis for all tests of a file, to use and not to control: REDIS_URL, or one that is started for the file. */
export function useRedis(): () => ProvidedRedis {
  return oneForTheFile(provideRedis);
}

/** One Redis for all tests of a file, which they may stop, kill and hang. */
export function useRedisServer(options?: RedisServerOptions): () => RedisServer {
  return oneForTheFile(() => RedisServer.start(options));
}

function oneForTheFile<T extends ProvidedRedis>(start: () => Promise<T>): () => T {
  let server: T | undefined;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    await server?.stop();
  });
  return () => {
    if (server === undefined) throw new Error('the Redis of this file runs only while its tests do');
    return server;
  };
}
