import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisServer } from '../../tools/replicas/redis/index.js';

/** Uses a new connection once. */
async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    // on a client that has ended already it would only leave a timer behind
    if (client.status !== 'end') client.disconnect();
  }
}

const write = (url: string): Promise<unknown> => withClient(url, (client) => client.set('key', 'value'));
const read = (url: string): Promise<unknown> => withClient(url, (client) => client.get('key'));

describe('a Redis server of the tests', () => {
  it('comes back on its port with or without its data, and refuses connections in between', async () => {
    await using server = await RedisServer.start();
    await write(server.url);
    await server.down();
    await expect(read(server.url)).rejects.toThrow();
    await server.up();
    expect(await read(server.url)).toBe('value');
    await server.restart({ keepData: false });
    expect(await read(server.url)).toBeNull();
  });

  it('loses its data when it is killed, unless it writes every change to disk', async () => {
    await using forgetful = await RedisServer.start();
    await using careful = await RedisServer.start({ appendOnly: true });
    for (const server of [forgetful, careful]) {
      await write(server.url);
      await server.kill();
      await server.up();
    }
    expect(await read(forgetful.url)).toBeNull();
    expect(await read(careful.url)).toBe('value');
  });

  it('hangs without closing a connection until it is resumed', async () => {
    await using server = await RedisServer.start();
    await server.pause();
    let hasAnswered = false;
    const answer = write(server.url).then(() => {
      hasAnswered = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(hasAnswered).toBe(false);
    await server.resume();
    await answer;
  });

  it('can be stopped twice, and while it hangs', async () => {
    const server = await RedisServer.start();
    await server.pause();
    await server.stop();
    await server.stop();
    expect(server.pid).toBeUndefined();
  });
});
