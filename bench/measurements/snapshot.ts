import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mixedJobs, nowMs } from '../events.js';
import { damage, expiryMsOf, type Measurement, setUp, spread } from '../measurement.js';

/** Kills Redis and starts it again at once from a snapshot that is older than the life of a lock. */
export const snapshot: Measurement = async (options) => {
  const { times = 10, jobs = 20, replicas = 3 } = options;
  const expiryMs = expiryMsOf(options);
  const dir = await mkdtemp(join(tmpdir(), 'singleton-job-bench-'));
  try {
    // The default rules of Redis. The folder is ours because a killed `RedisServer` removes its own.
    await using stage = await setUp(options, mixedJobs(jobs), {
      args: ['--save', '3600 1 300 100 60 10000', '--dir', dir],
    });
    const { fleet, redis, server } = stage;
    await fleet.start(replicas);

    const toRun: number[] = [];
    let restartsWithTwoLeaders = 0;
    const fromMs = nowMs();
    for (let i = 0; i < times; i++) {
      await fleet.untilAllLed();
      await delay(1_000);
      await redis.save();
      await delay(Math.max(12_000, 1.2 * expiryMs));
      await fleet.leaderInMidRun();
      const overlapsBefore = Number(damage(fleet, 0)['overlapping runs']);
      const killedAtMs = nowMs();
      await server.kill();
      await server.up();
      const runs = fleet.settings.jobs.map(({ name }) =>
        fleet.next(`${name} runs again`, (event) => event.type === 'started' && event.job === name, nowMs()),
      );
      for (const { atMs } of await Promise.all(runs)) toRun.push(atMs - killedAtMs);
      await delay(2 * expiryMs);
      if (Number(damage(fleet, 0)['overlapping runs']) > overlapsBefore) restartsWithTwoLeaders++;
    }
    await fleet.untilAllLed();
    return {
      restarts: times,
      jobs,
      'restarts with overlapping runs': restartsWithTwoLeaders,
      'restart to the next run of each job ms, p50 / p99 / max': spread(toRun),
      ...damage(fleet, fromMs),
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
};
