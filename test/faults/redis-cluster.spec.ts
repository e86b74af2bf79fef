import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { interval } from '../../libs/singleton-job/src/schedule/interval.js';
import { job } from '../../libs/singleton-job/src/testing/specs/job.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { RedisCluster } from '../../tools/replicas/redis/redis-cluster.js';
import { ReplicaPair } from './support/replica-pair.js';
import { InProcessReplica, LOCK_EXPIRY_MS } from './support/in-process-replica.js';

const PROJECT = 'one-node';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await RedisCluster.start();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

describe('a slot that moves to another node of a cluster', () => {
  it('keeps its locks: the client follows MOVED, and no leader changes', async () => {
    const connection = { nodes: cluster.addresses };
    await using pair = await ReplicaPair.start([connection, connection], { options: { lockExpiry: 10_000 } });
    for (const name of pair.jobNames) {
      const [before] = await cluster.ownerOf(pair.lock(name));
      await cluster.move(pair.lock(name));
      expect(await before.admin.get(pair.lock(name)).catch(String)).toContain('MOVED');
    }
    await pair.goesOn();
    await pair.goesOn();
    expect(pair.replicas.flatMap(({ observer }) => observer.of('leadershipLost'))).toEqual([]);
    expect(pair.replicas.flatMap(({ warnings }) => warnings)).toEqual([]);

    await pair.untilServerIsKnown();
    await pair.leader.pool.stop();
    // long before the locks expire
    await pair.goesOn({ withinMs: 8_000 });
    expect(pair.follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations()).toEqual([]);
  });
});

describe('a node of a cluster that is configured as one server', () => {
  it.each([0, 1] as const)(
    'makes no leader, is logged once with the fix, and delays no stop: node %s',
    async (index) => {
      const names = ['ant', 'bee', 'cat', 'dog'];
      const jobs = names.map((name) => job({ name, lockExpiryMs: LOCK_EXPIRY_MS, schedule: interval(50) }));
      const connection = cluster.nodes[index].server.url;
      const replica = new InProcessReplica({ node: 'a', project: PROJECT, connection, jobs, options: {} });
      await delay(3_000);
      const [line, ...others] = replica.warnings;
      expect(line).toContain('[one-node] Redis refuses a request that every job needs');
      expect(line).toContain('connection: { nodes: [{ host, port }] }');
      expect([others, replica.leads.size]).toEqual([[], 0]);
      const stoppedMs = performance.now();
      await replica.pool.close();
      expect(performance.now() - stoppedMs).toBeLessThan(1_000 + SLACK_MS);
    },
  );
});
