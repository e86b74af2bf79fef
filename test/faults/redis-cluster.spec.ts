import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { interval } from '../../libs/singleton-job/src/schedule/interval.js';
import { type ConnectionOptions } from '../../libs/singleton-job/src/store/open-store.js';
import { job } from '../../libs/singleton-job/src/testing/specs/job.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { RedisCluster } from '../../tools/replicas/redis/redis-cluster.js';
import { until } from '../../tools/replicas/until.js';
import { ReplicaPair } from './support/replica-pair.js';
import { InProcessReplica, LOCK_EXPIRY_MS } from './support/in-process-replica.js';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await RedisCluster.start();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

describe('a slot that moves to another node of a cluster', () => {
  it('changes no leader', async () => {
    const connection = { nodes: cluster.addresses };
    await using pair = await ReplicaPair.start([connection, connection], { options: { lockExpiry: 10_000 } });
    const [before] = await cluster.ownerOf(pair.leases);
    await cluster.move(pair.leases);
    expect(await before.admin.exists(pair.leases).catch(String)).toContain('MOVED');
    await pair.goesOn();
    await pair.goesOn();
    expect(pair.replicas.flatMap(({ observer }) => observer.of('leadershipLost'))).toEqual([]);
    expect(pair.replicas.flatMap(({ warnings }) => warnings)).toEqual([]);

    await pair.leader.pool.stop();
    // long before the leases end
    await pair.goesOn({ withinMs: 8_000 });
    expect(pair.follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations()).toEqual([]);
  });
});

function start(project: string, connection: ConnectionOptions): InProcessReplica {
  const names = ['ant', 'bee', 'cat', 'dog'];
  const jobs = names.map((name) => job({ name, lockExpiryMs: LOCK_EXPIRY_MS, schedule: interval(50) }));
  return new InProcessReplica({ node: 'a', project, connection, jobs, options: {} });
}

describe('a node of a cluster that hangs', () => {
  it('stops all jobs of its projects, and no others, until it answers', async () => {
    const [node, other] = cluster.nodes;
    const projects = Array.from({ length: 20 }, (_, index) => `project-${String(index)}`);
    const owners = await Promise.all(projects.map((project) => cluster.ownerOf(`{${project}}:leases`)));
    const [here, there] = [node, other].map((one) => {
      const project = projects[owners.findIndex(([owner]) => owner === one)] ?? '';
      return start(project, { nodes: cluster.addresses });
    });
    if (here === undefined || there === undefined) throw new Error('no project');
    const replicas = [here, there];
    try {
      await until('both lead', () => replicas.every(({ leads }) => leads.size === 4));
      await node.server.pause();
      await until('its project has no leader', () => here.leads.size === 0, { withinMs: LOCK_EXPIRY_MS + SLACK_MS });
      expect(there.observer.of('leadershipLost')).toEqual([]);
      await node.server.resume();
      await until('both lead', () => here.leads.size === 4);
      expect([there.leads.size, there.warnings]).toEqual([4, []]);
    } finally {
      await node.server.resume();
      await Promise.all(replicas.map(({ pool }) => pool.close()));
    }
  });
});

describe('a node of a cluster that is configured as one server', () => {
  it.each([0, 1] as const)(
    'makes no leader, is logged once with the fix, and delays no stop: node %s',
    async (index) => {
      const replica = start('one-node', cluster.nodes[index].server.url);
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
