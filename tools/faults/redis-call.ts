import { Redis } from 'ioredis';

/** One command to a Redis on this machine, on a connection of its own that passes no proxy. */
export async function redisCall(port: number, command: string, ...args: readonly string[]): Promise<unknown> {
  const redis = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}
