import { setTimeout as delay } from 'node:timers/promises';
import { type Redis } from 'ioredis';
import { CommandLog } from '../command-log.js';
import { idleJobs, nowMs } from '../events.js';
import { expiryMsOf, type Measurement, setUp } from '../measurement.js';

/**
 * Counts what the replicas send when nothing changes, and then the CPU time of a second window of the same length, without
 * MONITOR. One replica leads all jobs and has a process of its own; the others share processes.
 */
export const commands: Measurement = async (options) => {
  const { jobs = 100, replicas = 3, perProcess = 10, seconds = 20, settle = 15 } = options;
  await using stage = await setUp(options, idleJobs(jobs), { recordsRuns: false });
  const { fleet, redis, server } = stage;
  using log = await CommandLog.open(server.port);
  await fleet.start(1);
  await fleet.untilAllLed();
  const leader = fleet.leaderOf('job-0');
  if (leader === undefined) throw new Error('the leader went away');
  await fleet.start(replicas - 1, perProcess);
  const startedAtMs = nowMs();
  // followers ask once more within ten seconds of their subscription
  await delay(Math.max(settle * 1_000, 1.5 * expiryMsOf(options)));

  const fromMs = nowMs();
  await delay(seconds * 1_000);
  const sent = log.between(fromMs, nowMs());
  const kinds = new Map<string, number>();
  for (const command of sent) kinds.set(log.kindOf(command), (kinds.get(log.kindOf(command)) ?? 0) + 1);
  log[Symbol.dispose]();

  const cpu = async (): Promise<{ leader: number; redis: number }> => ({
    leader: await leader.cpuMs(),
    redis: await redisCpuMs(redis),
  });
  const before = await cpu();
  const cpuFromMs = nowMs();
  await delay(seconds * 1_000);
  const after = await cpu();
  const minutes = (nowMs() - cpuFromMs) / 60_000;
  const perMinute = (ms: number): string => (ms / 1_000 / minutes).toFixed(2);
  const perSecond = (count: number): string => (count / seconds).toFixed(1);
  const byKind = [...kinds].toSorted(([, a], [, b]) => b - a).map(([kind, count]) => `${kind} ${perSecond(count)}`);
  return {
    jobs,
    replicas,
    'commands per s': perSecond(sent.length),
    'by kind': byKind.join(', '),
    'leader CPU s per min': perMinute(after.leader - before.leader),
    'Redis CPU s per min': perMinute(after.redis - before.redis),
    'grants since the start': fleet.count('gained', startedAtMs),
  };
};

async function redisCpuMs(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const [user, system] = ['user', 'sys'].map((part) => new RegExp(`^used_cpu_${part}:([\\d.]+)`, 'm').exec(info)?.[1]);
  return (Number(user) + Number(system)) * 1_000;
}
