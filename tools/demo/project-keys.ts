import { Redis } from 'ioredis';

/** Rejects, naming no secret of the URL, where no Redis answers. */
export async function checkAnswers(url: string): Promise<void> {
  await withClient(url, (client) => client.ping()).catch((cause: unknown) => {
    throw new Error('the Redis of REDIS_URL does not answer: start it, or unset REDIS_URL and the demo brings one', {
      cause,
    });
  });
}

/** Removes every key of one project, and none of anybody else's. */
export async function removeKeys(url: string, project: string): Promise<void> {
  await withClient(url, async (client) => {
    // a lock's state keeps its key in braces
    for (const match of [`${project}:*`, `{${project}:*`]) {
      for await (const keys of client.scanStream({ match, count: 1_000 }) as AsyncIterable<string[]>) {
        for (const key of keys) await client.del(key);
      }
    }
  });
}

async function withClient<T>(url: string, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, {
    lazyConnect: true,
    retryStrategy: null,
    connectTimeout: 3_000,
    maxRetriesPerRequest: 0,
  });
  client.on('error', () => {
    // what was asked for rejects by itself
  });
  try {
    await client.connect();
    return await use(client);
  } finally {
    // on a client that has ended already it would only leave a timer behind
    if (client.status !== 'end') client.disconnect();
  }
}
