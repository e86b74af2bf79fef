import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { overlaps } from '../../../tools/replicas/history.js';
import { useRedis } from '../../../tools/replicas/redis/use-redis.js';
import { LASTING, Workers } from '../../../tools/replicas/workers.js';

const LONG_RUNS = { PRICE_TICK_SLOW_EVERY: '1', PRICE_TICK_SLOW_FOR: '7s', SINGLETON_JOB_SHUTDOWN_TIMEOUT: '30s' };

const redis = useRedis();

it('a leader that is suspended for less than its lease still leads, and its run is not aborted', async () => {
  await using workers = await Workers.start(redis().url, { ...LONG_RUNS, ...LASTING });
  const run = await workers.freshRun('price-tick');
  const leader = workers.leaderOf('price-tick');
  leader.suspend();
  await delay(3_000);
  leader.resume();
  const ended = () => workers.runs('price-tick').find(({ startedAtMs }) => startedAtMs === run.startedAtMs);
  await workers.until('its run has ended', () => ended()?.outcome !== undefined);
  expect(ended()?.outcome).toBe('runSucceeded');
  expect(workers.leaderOf('price-tick')).toBe(leader);
  expect(overlaps(workers.runs())).toEqual([]);
});
