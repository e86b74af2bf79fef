import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions } from '../../libs/singleton-job/src/store/open-store.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { until } from '../../tools/replicas/until.js';
import { type RedisServerOptions } from '../../tools/servers/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { newStore } from './support/new-store.js';
import { type Kind, type Place, portOf, startPlace } from './support/place.js';
import { type ReplicatedRedis, startReplicatedCluster, startSentinel } from './support/replicated-redis.js';
import { StoreHeartbeats } from './support/store-heartbeats.js';

interface Fault {
  readonly name: string;
  /** @default both */
  readonly of?: Kind;
  readonly redis?: RedisServerOptions;
  readonly begin: (place: Place, network: TcpProxy) => unknown;
  readonly end: (place: Place, network: TcpProxy) => unknown;
  /** What heartbeats and attempts to connect say. */
  readonly says: RegExp;
  /** The connection stays. */
  readonly isKept?: boolean;
}

const CUT_OFF = /closed|ECONN|EPIPE|terminat|not connected|starting up|shutting down|not yet accepting connections/;
/** Nor is an attempt to connect answered. */
const SILENT = /no answer within|timeout expired|ETIMEDOUT/;
const READ_ONLY = 'default_transaction_read_only';
const RELOAD = 'SELECT pg_reload_conf()';
const NOWHERE = 'REPLICAOF 127.0.0.1 1';
const DEBUG = ['--enable-debug-command', 'yes', '--loading-process-events-interval-bytes', '1024'];

const FAULTS: readonly Fault[] = [
  {
    name: 'cannot be reached, and nothing says so',
    begin: (_, network) => network.freeze(),
    end: (_, network) => network.thaw(),
    says: SILENT,
  },
  {
    name: 'resets each connection',
    begin: (_, network) => network.refuse(),
    end: (_, network) => network.accept(),
    says: CUT_OFF,
  },
  {
    name: 'hangs',
    begin: ({ server }) => server.pause(),
    end: ({ server }) => server.resume(),
    says: SILENT,
  },
  {
    name: 'is killed and started',
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.up(),
    says: CUT_OFF,
  },
  {
    name: 'takes a right away',
    begin: (place) => place.run(place.commands.refuse),
    end: (place) => place.run(place.commands.permit),
    says: /(NOPERM.*The ACL of the user needs|permission denied.*GRANT)/s,
    isKept: true,
  },
  {
    name: 'is a read-only copy',
    of: 'Redis',
    begin: (place) => place.run(NOWHERE),
    end: (place) => place.run('REPLICAOF NO ONE'),
    says: /READONLY/,
  },
  {
    name: 'is a copy without a primary, and serves no old data',
    of: 'Redis',
    redis: { args: ['--replica-serve-stale-data', 'no'] },
    begin: (place) => place.run(NOWHERE),
    end: (place) => place.run('REPLICAOF NO ONE'),
    says: /MASTERDOWN/,
  },
  {
    name: 'takes no writes',
    of: 'PostgreSQL',
    begin: (place) => place.run(`ALTER SYSTEM SET ${READ_ONLY} = on`, RELOAD),
    end: (place) => place.run(`SET ${READ_ONLY} = off`, `ALTER SYSTEM RESET ${READ_ONLY}`, RELOAD),
    says: /Connect to the primary, or free its disk/,
    isKept: true,
  },
  {
    name: 'wants another password',
    of: 'Redis',
    begin: (place) => place.run('ACL SETUSER app resetpass >other', 'CLIENT KILL USER app'),
    end: (place) => place.run('ACL SETUSER app resetpass >secret'),
    says: /closed|ECONN|WRONGPASS.*Check the user name and the password/,
  },
  {
    name: 'pauses writers',
    of: 'Redis',
    begin: (place) => place.run('CLIENT PAUSE 60000 WRITE'),
    end: (place) => place.run('CLIENT UNPAUSE'),
    says: SILENT,
  },
  {
    name: 'is busy with an endless script',
    of: 'Redis',
    redis: { args: ['--busy-reply-threshold', '20'] },
    begin: (place) => {
      inBackground(place, 'EVAL "while true do end" 0');
    },
    end: (place) => place.run('SCRIPT KILL'),
    says: /BUSY/,
    isKept: true,
  },
  {
    name: 'loads its data',
    of: 'Redis',
    // it answers after each key: soon enough for each step of a connection
    redis: { args: [...DEBUG, '--rdbcompression', 'no'] },
    begin: async (place) => {
      await place.run('DEBUG POPULATE 2000 key 2000', 'CONFIG SET key-load-delay 5000');
      inBackground(place, 'DEBUG RELOAD');
    },
    end: (place) => place.run('CONFIG SET key-load-delay 0'),
    says: /LOADING/,
  },
];

interface Clients {
  readonly client: string;
  readonly kind: Kind;
  readonly connect: (url: string) => ConnectionOptions;
}

const VERSIONS = [
  { client: 'ioredis 6', clients: { Redis, Cluster } },
  {
    client: 'ioredis 5',
    clients: { Redis: Redis5 as unknown as typeof Redis, Cluster: Cluster5 as unknown as typeof Cluster },
  },
];
const CLIENTS: readonly Clients[] = [
  ...VERSIONS.map(({ client, clients }) => ({
    client,
    kind: 'Redis' as const,
    connect: (url: string) => new clients.Redis(url, { lazyConnect: true }),
  })),
  { client: 'pg', kind: 'PostgreSQL', connect: (url) => url },
];

const TTLS_MS = [10_000, 800];
const forEachTtl = <T>(rows: readonly T[]) => rows.flatMap((row) => TTLS_MS.map((ttlMs) => ({ ...row, ttlMs })));

describe.each(forEachTtl(CLIENTS))('heartbeats by $client with a lockExpiry of $ttlMs ms, to a server that', (row) => {
  const { kind, connect, ttlMs } = row;

  it.concurrent.each(FAULTS.filter(({ of = kind }) => of === kind))(
    '$name: they fail soon, and are answered soon after it',
    async ({ redis, begin, end, says, isKept = false }) => {
      await using place = await startPlace(kind, redis);
      await using network = await TcpProxy.start(place.server.port);
      await using heartbeats = await startHeartbeats(connect(place.urlOf(portOf(network))), ttlMs);
      const noticed = await heartbeats.during(
        () => begin(place, network),
        () => end(place, network),
        0.6 * ttlMs,
        says,
      );
      const { intervalMs, disconnected } = heartbeats;
      expect(noticed.noticedMs).toBeLessThan(intervalMs + Math.min(1_500, ttlMs / 5) + SLACK_MS);
      // a PostgreSQL takes seconds to start
      expect(noticed.backMs).toBeLessThan((kind === 'Redis' ? 1_000 : intervalMs + 1_500) + SLACK_MS);
      const messages = [...noticed.errors, ...disconnected].map(({ message }) => message);
      expect(messages).toContainEqual(expect.stringMatching(says));
      // on a busy machine an answer may take too long before or after, which ends a connection too
      expect(messages.filter((message) => !says.test(message) && !SILENT.test(message))).toEqual([]);
      expect(disconnected.some(({ message }) => !isKept || !SILENT.test(message))).toBe(!isKept);
      await heartbeats.listening();
    },
  );
});

const REPLICATED = [
  {
    place: 'a cluster',
    /** How soon after the promotion of the copy it answers, also where the primary still serves its clients. */
    backMs: { gone: 2_000, served: 2_000 },
    start: startReplicatedCluster,
    connect: ({ Cluster }: (typeof VERSIONS)[number]['clients'], { addresses }: ReplicatedRedis) =>
      new Cluster([...addresses], { lazyConnect: true }),
  },
  {
    place: 'Sentinels',
    backMs: { gone: 5_000, served: 40_000 },
    start: startSentinel,
    connect: ({ Redis }: (typeof VERSIONS)[number]['clients'], { addresses }: ReplicatedRedis) =>
      new Redis({ sentinels: [...addresses], name: 'shop', lazyConnect: true }),
  },
];
const CASES = REPLICATED.flatMap((where) => VERSIONS.map((version) => ({ ...where, ...version })));

describe.each(forEachTtl(CASES))(
  'heartbeats by $client with a lockExpiry of $ttlMs ms, to $place whose primary',
  ({ start, connect, backMs, clients, ttlMs }) => {
    it.concurrent.each<[string, (redis: ReplicatedRedis) => Promise<unknown>, keyof typeof backMs]>([
      ['is killed', ({ primary }) => primary.kill(), 'gone'],
      ['hangs', ({ primary }) => primary.pause(), 'gone'],
      ['is ordered to fail over', (redis) => redis.failOver(), 'served'],
    ])('%s: they are answered soon by the server that takes over', async (_, fail, primary) => {
      await using redis = await start();
      await using heartbeats = await startHeartbeats(connect(clients, redis), ttlMs);
      const { incarnation: before } = await heartbeats.answer();
      await fail(redis);
      await until('the copy has taken over', () => redis.isPromoted());
      const isOther = async () => (await heartbeats.answer()).incarnation.id !== before.id;
      await until('it answers', isOther, { withinMs: backMs[primary] + SLACK_MS });
      expect((await heartbeats.answer()).incarnation.isFirst).toBe(false);
      await heartbeats.listening();
    });
  },
);

describe.each(TTLS_MS)('a PostgreSQL that waits for a synchronous standby, with a lockExpiry of %i ms,', (ttlMs) => {
  it.concurrent('has few connections, and answers again when it waits no more', async () => {
    await using place = await startPlace('PostgreSQL');
    await using heartbeats = await startHeartbeats(place.urlOf(), ttlMs);
    const most = { connections: 0, waiting: 0 };
    const { errors, backMs } = await heartbeats.during(
      async () => {
        const untilMs = performance.now() + 15_000;
        await place.run("ALTER SYSTEM SET synchronous_standby_names = 'gone'", RELOAD);
        while (performance.now() < untilMs) {
          const rows = await place.run(
            `SELECT count(*)::int AS connections, count(*) FILTER (WHERE wait_event = 'SyncRep')::int AS waiting
            FROM pg_stat_activity WHERE usename = 'app'`,
          );
          const [now] = rows as (typeof most)[];
          most.connections = Math.max(most.connections, now?.connections ?? Infinity);
          most.waiting = Math.max(most.waiting, now?.waiting ?? Infinity);
          await delay(50);
        }
      },
      () => place.run('ALTER SYSTEM RESET synchronous_standby_names', RELOAD),
      0,
    );
    expect(errors[0]?.message).toMatch(/no answer within/);
    expect(most.connections).toBeLessThanOrEqual(5);
    expect(most.waiting).toBeLessThanOrEqual(3);
    // three soon after each other, then one every 5 s
    expect(errors.filter(({ wasSent }) => wasSent).length).toBeLessThanOrEqual(7);
    expect(backMs).toBeLessThan(5_000 + heartbeats.intervalMs + SLACK_MS);
  });
});

/** A command that does not end by itself. */
function inBackground(place: Place, command: string): void {
  place.run(command).catch(() => undefined);
}

/** Resolves once they are answered, and the store listens. */
async function startHeartbeats(connection: ConnectionOptions, ttlMs: number): Promise<StoreHeartbeats> {
  const heartbeats = new StoreHeartbeats(newStore({ projectName: 'shop', connection }), ttlMs);
  await heartbeats.answer();
  await heartbeats.listening();
  return heartbeats;
}
