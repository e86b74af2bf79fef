import { describe, expect, it } from '@jest/globals';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { SILENT, SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { ReplicaPair } from './support/replica-pair.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { RedisSentinel } from './support/redis-sentinel.js';
import { PromotedReplica } from './support/promoted-replica.js';
import { FaultRun, adminClient } from './support/fault-run.js';

/** Counted from the new primary: the lock of a leader that gave up must expire there too. */
const BACK_MS = LOCK_EXPIRY_MS + 1_000 + SLACK_MS;
/** How long a leader may not know that its lock is gone: until its next renewal is answered. */
const UNAWARE_MS = HEARTBEAT_INTERVAL_MS + LOCK_EXPIRY_MS / 5;

interface Failover {
  readonly name: string;
  readonly happen: (redis: RedisSentinel) => unknown;
  /** Whether the old primary serves its clients for a while. What is written there meanwhile is lost. */
  readonly losesWrites?: boolean;
}

const FAILOVERS: readonly Failover[] = [
  { name: 'is killed', happen: ({ primary }) => primary.kill() },
  { name: 'hangs', happen: ({ primary }) => primary.pause() },
  {
    name: 'is ordered to fail over',
    happen: ({ watch }) => watch.call('SENTINEL', 'FAILOVER', RedisSentinel.NAME),
    losesWrites: true,
  },
];

describe('a primary under a Sentinel that', () => {
  it.concurrent.each(FAILOVERS)(
    '$name is replaced by its replica, and jobs go on there',
    async ({ happen, losesWrites = false }) => {
      await using redis = await RedisSentinel.start();
      const { connection } = redis;
      await using pair = await ReplicaPair.start([connection, connection]);
      await redis.caughtUp();
      await happen(redis);
      await pair.until('the replica is promoted', () => redis.isPromoted(), { withinMs: 40_000 });
      if (!losesWrites) await pair.goesOn({ withinMs: BACK_MS });
      const locks = pair.jobNames.map((name) => pair.lock(name));
      // a Sentinel lets the old primary serve its clients for seconds before it demotes it
      await pair.until(
        'the locks are there',
        async () => (await redis.readReplica(...locks)).every((holder) => holder),
        {
          withinMs: 40_000,
        },
      );
      const movedMs = performance.now();
      await pair.until('everybody knows', () => performance.now() > movedMs + UNAWARE_MS + SLACK_MS);
      await pair.goesOn();

      expect(pair.violations({ sinceMs: losesWrites ? movedMs + UNAWARE_MS + SLACK_MS : 0 })).toEqual([]);
      for (const { lines } of pair.replicas) {
        const errors = lines.filter((line) => line.startsWith('error: '));
        expect(errors.filter((line) => !SILENT.test(line)).length).toBeLessThanOrEqual(2);
        expect(lines.filter((line) => line.includes('Redis is available again'))).toHaveLength(errors.length);
      }
    },
  );
});

describe('a promoted replica that has all data', () => {
  it.concurrent('keeps the leader, and no run is aborted', async () => {
    await using faultRun = await FaultRun.start();
    const { pair } = faultRun;
    await using successor = await PromotedReplica.start(faultRun);
    await pair.goesOn();
    await successor.promote();
    const promotedMs = performance.now();
    await pair.until('a lease has passed', () => performance.now() > promotedMs + LOCK_EXPIRY_MS);
    await pair.goesOn();
    expect(pair.leader.leads.size).toBe(pair.jobNames.length);
    expect(pair.leader.observer.of('leadershipLost')).toEqual([]);
    expect(pair.leader.observer.of('runCancelled')).toEqual([]);
    expect(pair.violations()).toEqual([]);
  });
});

describe('a promoted replica that missed the last writes', () => {
  it.concurrent('makes no second leader: the old one takes its locks again, under larger tokens', async () => {
    await using behind = await RedisServer.start();
    await using faultRun = await FaultRun.start();
    const { pair, server, proxies } = faultRun;
    using outside = adminClient(behind);
    await outside.admin.replicaof('127.0.0.1', server.port);
    await pair.until('it has a copy', async () => (await outside.admin.exists(pair.state('report'))) === 1);
    await outside.admin.replicaof('NO', 'ONE');
    // it does not get the writes from now on
    await outside.admin.del(pair.jobNames.map((name) => pair.lock(name)));
    await pair.goesOn();

    const before = Math.max(...pair.runs.map(({ fencingToken }) => fencingToken));
    for (const proxy of proxies) proxy.redirect(behind.port);
    await pair.until(
      'the leader knows',
      () => pair.leader.observer.of('leadershipLost').length === pair.jobNames.length,
    );
    const knownMs = performance.now();
    await pair.goesOn({ withinMs: BACK_MS });
    expect(pair.leader.leads.size).toBe(pair.jobNames.length);
    const later = pair.runs.filter(({ startedAtMs }) => startedAtMs > knownMs);
    expect(Math.min(...later.map(({ fencingToken }) => fencingToken))).toBeGreaterThan(before);
    expect(pair.violations()).toEqual([]);
  });
});
