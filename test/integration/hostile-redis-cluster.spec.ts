import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { interval } from '../../libs/singleton-job/src/schedule/index.js';
import { eventually } from '../contract/lock-store-world.js';
import { job } from '../support/fleet.js';
import { HostileCluster } from '../support/hostile-cluster.js';
import { HostilePair } from '../support/hostile-pair.js';
import { HostileReplica, LOCK_EXPIRY_MS } from '../support/hostile-replica.js';

const PROJECT = 'one-node';
const lockOf = (name: string): string => `${PROJECT}:${name}:lock`;

let cluster: HostileCluster;

beforeAll(async () => {
  cluster = await HostileCluster.start();
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
});

describe('a slot that moves to another node of a cluster', () => {
  it('takes its locks along: MOVED is followed, and no leader changes', async () => {
    const connection = { nodes: cluster.addresses };
    await using pair = await HostilePair.start([connection, connection], { options: { lockExpiry: 10_000 } });
    for (const name of pair.jobNames) {
      const [before] = await cluster.ownerOf(pair.lock(name));
      await cluster.move(pair.lock(name));
      expect(await before.admin.get(pair.lock(name)).catch(String)).toContain('MOVED');
    }
    await pair.goesOn();
    await pair.goesOn();
    expect(pair.replicas.flatMap(({ observer }) => observer.of('leadershipLost'))).toEqual([]);
    expect(pair.replicas.flatMap(({ complaints }) => complaints)).toEqual([]);

    await pair.leader.supervisor.stop();
    // long before the locks expire
    await pair.goesOn({ withinMs: 8_000 });
    expect(pair.follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations()).toEqual([]);
  });
});

describe('a node of a cluster that is taken for the only server', () => {
  it('runs the jobs whose slots it has; of each other one it is said once that it MOVED', async () => {
    const [node] = cluster.nodes;
    const names = ['ant', 'bee', 'cat', 'dog', 'elk', 'fox', 'gnu', 'hen'];
    const isThere = await Promise.all(names.map(async (name) => (await cluster.ownerOf(lockOf(name)))[0] === node));
    const there = names.filter((_, n) => isThere[n]);
    const elsewhere = names.filter((_, n) => !isThere[n]);
    expect([there.length > 0, elsewhere.length > 0]).toEqual([true, true]);

    const jobs = names.map((name) => job({ name, lockExpiryMs: LOCK_EXPIRY_MS, schedule: interval(50) }));
    const replica = new HostileReplica({ node: 'a', project: PROJECT, connection: node.server.url, jobs, options: {} });
    try {
      const { observer } = replica;
      const isNamed = (name: string): boolean => observer.of('storeUnreachable').some((told) => told.job === name);
      await eventually('each other one is named', () => elsewhere.every(isNamed) || undefined);
      await eventually(
        'the jobs that are there are led',
        () => there.every((name) => replica.leads.has(name)) || undefined,
      );
      const runs = observer.of('runSucceeded').length;
      await eventually('they go on', () => observer.of('runSucceeded').length > runs + 5 * there.length || undefined);
      const moved = replica.complaints.filter((line) => line.includes('MOVED'));
      expect(moved.filter((line) => elsewhere.some((name) => line.includes(`:${name}]`)))).toHaveLength(
        elsewhere.length,
      );
      expect(moved.length).toBeLessThanOrEqual(elsewhere.length + 1);
    } finally {
      await replica.supervisor.close();
    }
  });
});
