import { Redis } from 'ioredis';

/**
 * Has Redis look as if replicas of a project had been running on it for an hour. A new server counts as one that has lost its
 * data: no released lock is taken before the first `lockExpiry` has passed.
 */
export async function knowServer(redisUrl: string, project: string): Promise<void> {
  const redis = new Redis(redisUrl);
  try {
    const [, runId = ''] = /^run_id:(\w+)/m.exec(await redis.info('server')) ?? [];
    const since = Date.now() - 3_600_000;
    await redis.hset(`{${project}:sessions}:server`, { runId, since, version: 1, replicas: 0 });
  } finally {
    redis.disconnect();
  }
}
