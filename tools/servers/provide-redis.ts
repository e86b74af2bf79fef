import { RedisServer } from './redis-server.js';

/** A Redis to use, not to control. */
export interface ProvidedRedis extends AsyncDisposable {
  readonly url: string;
}

/**
 * The server that REDIS_URL names, or else one started for the caller, which ends with it. A borrowed server may hold
 * the data of others. So tests use key names of their own and never flush it. To stop, kill or hang a server, start a
 * `RedisServer`.
 */
export async function provideRedis(): Promise<ProvidedRedis> {
  const url = process.env['REDIS_URL'];
  if (url === undefined || url === '') return RedisServer.start();
  return { url, [Symbol.asyncDispose]: () => Promise.resolve() };
}
