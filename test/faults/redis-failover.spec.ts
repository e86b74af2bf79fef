import { describe, expect, it } from '@jest/globals';
import { SILENT, SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { ReplicaPair } from './support/replica-pair.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { RedisSentinel } from './support/redis-sentinel.js';

/** Counted from the new primary: the lease of a leader that gave up may live on for so long. */
const BACK_MS = LOCK_EXPIRY_MS + 1_000 + SLACK_MS;
/** How long a leader may not know that another leads: until its next heartbeat is answered. */
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
      const before = await redis.incarnation(pair.leases);
      await happen(redis);
      await pair.until('the replica is promoted', () => redis.isPromoted(), { withinMs: 40_000 });
      if (!losesWrites) await pair.goesOn({ withinMs: BACK_MS });
      // a Sentinel lets the old primary serve its clients for seconds before it demotes it
      const isNew = async () => (await redis.incarnation(pair.leases)).join() !== before.join();
      await pair.until('a replica is there', isNew, { withinMs: 40_000 });
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
