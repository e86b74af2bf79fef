import { expect, it } from '@jest/globals';
import { SLACK_MS } from '../../../tools/replicas/busy-machine.js';
import { useRedisServer } from '../../../tools/replicas/redis/use-redis.js';
import { Workers } from '../../../tools/replicas/workers.js';

const SHUTDOWN_TIMEOUT_MS = 3_000;

const redis = useRedisServer();

it('processes stop within the shutdown timeout, and exit by themselves, while Redis hangs', async () => {
  await using workers = await Workers.start(redis().url, {
    SINGLETON_JOB_SHUTDOWN_TIMEOUT: `${SHUTDOWN_TIMEOUT_MS}ms`,
  });
  await redis().pause();
  try {
    const stoppedAtMs = Date.now();
    expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));
    expect(Date.now() - stoppedAtMs).toBeLessThan(SHUTDOWN_TIMEOUT_MS + SLACK_MS);
  } finally {
    await redis().resume();
  }
});
