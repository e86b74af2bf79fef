import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { type RedisConnectionOptions } from '../../libs/singleton-job/src/store/redis/redis-clients.js';
import { RedisStore } from '../../libs/singleton-job/src/store/redis/redis-store.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { TcpProxy } from '../../tools/replicas/tcp-proxy.js';
import { until } from '../../tools/replicas/until.js';
import { adminClient } from './support/fault-run.js';
import { RedisSentinel } from './support/redis-sentinel.js';
import { ReplicatedCluster } from './support/replicated-cluster.js';
import { StoreHeartbeats } from './support/store-heartbeats.js';

const VERSIONS = [
  { version: 'ioredis 6', clients: { Redis, Cluster } },
  {
    version: 'ioredis 5',
    clients: { Redis: Redis5 as unknown as typeof Redis, Cluster: Cluster5 as unknown as typeof Cluster },
  },
];
const CASES = VERSIONS.flatMap((version) => [10_000, 800].map((lockExpiryMs) => ({ ...version, lockExpiryMs })));

interface Place {
  readonly server: RedisServer;
  readonly proxy: TcpProxy;
  readonly admin: Redis;
}

interface Fault {
  readonly name: string;
  readonly begin: (place: Place) => unknown;
  readonly end: (place: Place) => unknown;
  /** What heartbeats and attempts to connect say. */
  readonly says: RegExp;
  /** It concerns a user, whom a server that was killed does not know any more. */
  readonly isOfUser?: boolean;
  /** The connection stays. */
  readonly isKept?: boolean;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'cannot be reached, and nothing says so',
    begin: ({ proxy }) => {
      proxy.freeze();
    },
    end: ({ proxy }) => {
      proxy.thaw();
    },
    says: /no answer within/,
  },
  {
    name: 'hangs',
    begin: ({ server }) => server.pause(),
    end: ({ server }) => server.resume(),
    says: /no answer within/,
  },
  {
    name: 'is killed and started',
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.up(),
    says: /closed|ECONN/,
  },
  {
    name: 'is a read-only copy for a while',
    begin: ({ admin }) => admin.replicaof('127.0.0.1', 1),
    end: ({ admin }) => admin.replicaof('NO', 'ONE'),
    says: /READONLY/,
  },
  {
    name: 'wants another password for a while',
    begin: async ({ admin }) => {
      await admin.call('ACL', 'SETUSER', 'jobs', 'resetpass', '>other');
      await admin.call('CLIENT', 'KILL', 'USER', 'jobs');
    },
    end: ({ admin }) => admin.call('ACL', 'SETUSER', 'jobs', 'resetpass', '>secret'),
    says: /closed|WRONGPASS.*Check the user name and the password/,
    isOfUser: true,
  },
  {
    name: 'does not permit scripts for a while',
    begin: ({ admin }) => admin.call('ACL', 'SETUSER', 'jobs', '-eval'),
    end: ({ admin }) => admin.call('ACL', 'SETUSER', 'jobs', '+eval'),
    says: /NOPERM.*The ACL of the user needs/,
    isOfUser: true,
    isKept: true,
  },
];

describe.each(CASES)(
  'heartbeats with $version and a lockExpiry of $lockExpiryMs ms to a Redis that',
  ({ clients, lockExpiryMs }) => {
    it.concurrent.each(FAULTS)(
      '$name fail soon, and are answered soon after it',
      async ({ begin, end, says, isOfUser, isKept }) => {
        await using server = await RedisServer.start();
        await using proxy = await TcpProxy.start(server.port);
        using outside = adminClient(server);
        const { admin } = outside;
        await admin.call('ACL', 'SETUSER', 'jobs', 'on', '>secret', '~*', '&*', '+@all');
        const url = isOfUser === true ? proxy.url.replace('//', '//jobs:secret@') : proxy.url;
        const { store, listening } = newStore(new clients.Redis(url, { lazyConnect: true }), lockExpiryMs);
        await using heartbeats = new StoreHeartbeats(store, lockExpiryMs);
        await heartbeats.answer();
        await until('the store listens', () => listening.at(-1) === true);

        const place = { server, proxy, admin };
        const lastsMs = 0.6 * lockExpiryMs;
        const noticed = await heartbeats.during(
          () => begin(place),
          () => end(place),
          lastsMs,
        );
        const silenceMs = Math.min(1_500, lockExpiryMs / 5);
        expect(noticed.noticedMs).toBeLessThan(heartbeats.intervalMs + silenceMs + SLACK_MS);
        expect(noticed.backMs).toBeLessThan(1_000 + SLACK_MS);
        for (const { message } of [...noticed.errors, ...heartbeats.disconnected]) expect(message).toMatch(says);
        expect(heartbeats.disconnected.length > 0).toBe(isKept !== true);
        await until('the store listens', () => listening.at(-1) === true);
      },
    );
  },
);

describe.each(CASES)(
  'heartbeats with $version and a lockExpiry of $lockExpiryMs ms to a cluster',
  ({ clients, lockExpiryMs }) => {
    it.concurrent.each([
      ['is killed', (cluster: ReplicatedCluster) => cluster.primary.server.kill()],
      ['hangs', (cluster: ReplicatedCluster) => cluster.primary.server.pause()],
    ])('whose primary %s are answered by the one that takes over', async (_, begin) => {
      await using cluster = await ReplicatedCluster.start();
      const { store, listening } = newStore(
        new clients.Cluster(cluster.addresses, { lazyConnect: true }),
        lockExpiryMs,
      );
      await using heartbeats = new StoreHeartbeats(store, lockExpiryMs);
      const { incarnation: before } = await heartbeats.answer();
      const { backMs } = await heartbeats.during(
        async () => {
          await begin(cluster);
          await cluster.promoted();
        },
        () => undefined,
        0,
      );
      expect(backMs).toBeLessThan(2_000 + SLACK_MS);
      const { incarnation } = await heartbeats.answer();
      expect(incarnation).toMatchObject({ isFirst: false, id: expect.not.stringContaining(before.id) });
      expect(heartbeats.disconnected).toEqual([]);
      await until('the store listens', () => listening.at(-1) === true);
    });
  },
);

describe.each(VERSIONS)('heartbeats with $version to a server that Sentinels watch', ({ clients }) => {
  it.each(['kill', 'pause'] as const)('are answered by its replica after a %s', async (fault) => {
    await using redis = await RedisSentinel.start();
    await redis.caughtUp();
    const connection = new clients.Redis({ ...(redis.connection as object), lazyConnect: true });
    const { store, listening } = newStore(connection, 10_000);
    await using heartbeats = new StoreHeartbeats(store, 10_000);
    const { incarnation: before } = await heartbeats.answer();
    const { backMs } = await heartbeats.during(
      async () => {
        await redis.primary[fault]();
        await until('the replica is promoted', () => redis.isPromoted());
      },
      () => undefined,
      0,
    );
    expect(backMs).toBeLessThan(5_000 + SLACK_MS);
    expect((await heartbeats.answer()).incarnation).toMatchObject({
      isFirst: false,
      id: expect.not.stringContaining(before.id),
    });
    await until('the store listens', () => listening.at(-1) === true);
  });
});

/** A store, and whether it listens. */
function newStore(
  connection: RedisConnectionOptions,
  shortestLifeMs: number,
): { readonly store: RedisStore; readonly listening: readonly boolean[] } {
  const store = new RedisStore({ projectName: 'shop', connection, shortestLifeMs });
  const listening: boolean[] = [];
  store.addListener({ listening: (isListening) => listening.push(isListening) });
  return { store, listening };
}
