import { setTimeout as delay } from 'node:timers/promises';
import { CommandLog } from '../command-log.js';
import { idleJobs, nowMs } from '../events.js';
import { expiryMsOf, type Measurement, setUp, spread } from '../measurement.js';

/** Kills the replica that leads all jobs, and counts the acquire requests until every job has a leader again. */
export const herd: Measurement = async (options) => {
  const { jobs = 300, replicas = 10, perProcess = 3 } = options;
  await using stage = await setUp(options, idleJobs(jobs), { recordsRuns: false });
  const { fleet, server } = stage;
  using log = await CommandLog.open(server.port);
  await fleet.start(1);
  await fleet.untilAllLed();
  const leader = fleet.leaderOf('job-0');
  if (leader === undefined) throw new Error('the leader went away');
  await fleet.start(replicas - 1, perProcess);
  await delay(expiryMsOf(options) + Math.random() * 3_000);

  leader.kill();
  const killedAtMs = leader.killedAtMs ?? NaN;
  await fleet.untilAllLed();
  const gained = fleet.events.filter(({ type, atMs }) => type === 'gained' && atMs > killedAtMs);
  await delay(2_000); // on a busy machine MONITOR shows a command late
  const acquires = log.between(killedAtMs, nowMs()).filter((command) => log.kindOf(command) === 'acquire');
  const times = gained.map(({ atMs }) => atMs);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const counted = acquires.filter(({ atMs }) => atMs <= last);
  const perJob = new Map<string, number>();
  for (const { lock = '' } of counted) perJob.set(lock, (perJob.get(lock) ?? 0) + 1);
  return {
    jobs,
    replicas,
    'acquire requests': counted.length,
    'of them after the first grant': counted.filter(({ atMs }) => atMs > first).length,
    'per job': (counted.length / jobs).toFixed(2),
    'most for one job': Math.max(...perJob.values()),
    'kill to leader ms, p50 / p99 / max': spread(times.map((atMs) => atMs - killedAtMs)),
    'first to last grant ms': Math.round(last - first),
    'jobs of the busiest replica': busiest(gained.map(({ node }) => node)),
  };
};

function busiest(nodes: readonly string[]): number {
  return Math.max(...[...new Set(nodes)].map((node) => nodes.filter((other) => other === node).length));
}
