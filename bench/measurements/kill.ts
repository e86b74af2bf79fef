import { setTimeout as delay } from 'node:timers/promises';
import { type Redis } from 'ioredis';
import { type BenchEvent, mixedJobs } from '../events.js';
import { damage, expiryMsOf, type Measurement, setUp, spread } from '../measurement.js';

/** Kills the leader of the probe job in the middle of a run, again and again. The killed replica is replaced each time. */
export const kill: Measurement = async (options) => {
  const { times = 10, replicas = 3, jobs = 5 } = options;
  const expiryMs = expiryMsOf(options);
  await using stage = await setUp(options, mixedJobs(jobs));
  const { fleet, redis } = stage;
  await fleet.start(replicas);

  const toLeader: number[] = [];
  const toRun: number[] = [];
  const heartbeatAges: number[] = [];
  const fromHeartbeat: number[] = [];
  for (let i = 0; i < times; i++) {
    await fleet.untilAllLed();
    // so that kills are spread over the time between two heartbeats
    await delay(500 + Math.random() * Math.min(expiryMs / 2, 4_000));
    const leader = await fleet.leaderInMidRun();
    const age = await heartbeatAgeMs(redis, 'bench:probe:lock', expiryMs);
    leader.kill();
    const killedAtMs = leader.killedAtMs ?? NaN;
    const isOfAnother = (event: BenchEvent): boolean =>
      'job' in event && event.job === 'probe' && !leader.settings.nodes.includes(event.node);
    const gained = await fleet.next(
      'another replica leads',
      (event) => event.type === 'gained' && isOfAnother(event),
      killedAtMs,
    );
    const run = await fleet.next(
      'the next run',
      (event) => event.type === 'started' && isOfAnother(event),
      gained.atMs,
    );
    toLeader.push(gained.atMs - killedAtMs);
    toRun.push(run.atMs - killedAtMs);
    if (age !== undefined) {
      heartbeatAges.push(age);
      fromHeartbeat.push(gained.atMs - killedAtMs + age);
    }
    await fleet.untilAllLed();
    await fleet.start(1);
  }
  await delay(2_000);
  const { 'overlapping runs': overlaps, 'cron started twice': twice, 'cron lost': lost } = damage(fleet, 0);
  return {
    kills: times,
    'kill to leader ms, p50 / p99 / max': spread(toLeader),
    'kill to run ms': spread(toRun),
    'last heartbeat before kill ms': spread(heartbeatAges),
    'last heartbeat to leader ms': spread(fromHeartbeat),
    'overlapping runs': overlaps ?? NaN,
    'cron started twice': twice ?? NaN,
    'cron lost': lost ?? NaN,
  };
};

/**
 * How long ago the leader of a lock sent the heartbeat that its life hangs on. With sessions that is the one of its session: its
 * end is the score in the sorted set. Without, it is the renewal of the lock. Undefined if neither can be seen.
 */
async function heartbeatAgeMs(redis: Redis, lock: string, expiryMs: number): Promise<number | undefined> {
  const [holder, leftMs, [seconds, micros]] = await Promise.all([redis.get(lock), redis.pttl(lock), redis.time()]);
  if (holder === null) return undefined;
  const session = holder.slice(0, holder.lastIndexOf('#'));
  const end = await redis.zscore('{bench:sessions}', session);
  if (end !== null) return expiryMs - (Number(end) - (Number(seconds) * 1_000 + Number(micros) / 1_000));
  return leftMs > 0 && leftMs <= expiryMs ? expiryMs - leftMs : undefined;
}
