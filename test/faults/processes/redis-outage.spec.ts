import { expect, it } from '@jest/globals';
import { SLACK_MS } from '../../../tools/replicas/busy-machine.js';
import { type RedisServer } from '../../../tools/replicas/redis/index.js';
import { useRedisServer } from '../../../tools/replicas/redis/use-redis.js';
import { LASTING, Workers } from '../../../tools/replicas/workers.js';

const RELEASE_MS = 2_000;

const redis = useRedisServer();

it.each<[string, (server: RedisServer) => Promise<void>]>([
  ['hangs', (server) => server.pause()],
  ['is down', (server) => server.kill()],
])('processes stop within 2 s, and exit by themselves, while Redis %s and leases are valid', async (_, fail) => {
  await redis().up();
  // far more than 2 s, and their leases outlive the test
  await using workers = await Workers.start(redis().url, { ...LASTING, SINGLETON_JOB_SHUTDOWN_TIMEOUT: '30s' });
  await fail(redis());
  try {
    const stoppedAtMs = Date.now();
    expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));
    expect(Date.now() - stoppedAtMs).toBeLessThan(RELEASE_MS + SLACK_MS);
  } finally {
    await redis().resume();
  }
});
