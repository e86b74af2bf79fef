import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { PostgresStore } from '../../libs/singleton-job/src/store/postgres/postgres-store.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { PostgresServer } from '../../tools/replicas/postgres/postgres-server.js';
import { TcpProxy } from '../../tools/replicas/tcp-proxy.js';
import { run, urlOf } from './support/postgres.js';
import { StoreHeartbeats } from './support/store-heartbeats.js';

interface Fault {
  readonly name: string;
  /** How long it lasts, for a `lockExpiry` of 10 s. */
  readonly forMs: number;
  readonly begin: (server: PostgresServer, proxy: TcpProxy) => Promise<void>;
  readonly end: (server: PostgresServer, proxy: TcpProxy) => Promise<void>;
  /** What the requests say meanwhile. */
  readonly message: RegExp;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'a network that lets nothing pass',
    forMs: 6_000,
    begin: async (_server, proxy) => {
      proxy.freeze();
    },
    end: async (_server, proxy) => {
      proxy.thaw();
    },
    message: /no answer within/,
  },
  {
    name: 'a server that hangs',
    forMs: 6_000,
    begin: (server) => server.pause(),
    end: (server) => server.resume(),
    message: /no answer within/,
  },
  {
    name: 'a server that is killed and started again',
    forMs: 3_000,
    begin: (server) => server.kill(),
    end: (server) => server.up(),
    message: /terminat(ed|ing connection)|ECONNRESET/,
  },
  {
    name: 'a server that takes no writes',
    forMs: 3_000,
    begin: async (server) => {
      await run(server, 'ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()');
    },
    end: async (server) => {
      const writable = 'SET default_transaction_read_only = off';
      await run(server, writable, 'ALTER SYSTEM RESET default_transaction_read_only', 'SELECT pg_reload_conf()');
    },
    message: /Connect to the primary, or free its disk/,
  },
];

function newStore(connection: string, shortestLifeMs: number): PostgresStore {
  return new PostgresStore({ projectName: 'shop', connection, shortestLifeMs });
}

describe.each([10_000, 800])('with a lockExpiry of %i ms,', (lockExpiryMs) => {
  it.concurrent.each(FAULTS)(
    '$name is noticed, and requests go on after it',
    async ({ forMs, begin, end, message }) => {
      await using server = await PostgresServer.start();
      await using proxy = await TcpProxy.start(server.port);
      await using heartbeats = new StoreHeartbeats(newStore(urlOf(proxy), lockExpiryMs), lockExpiryMs);
      const { errors, backMs } = await heartbeats.during(
        () => begin(server, proxy),
        () => end(server, proxy),
        lockExpiryMs < 1_000 ? forMs / 10 : forMs,
      );
      expect(errors[0]?.message).toMatch(message);
      expect(backMs).toBeLessThan(heartbeats.intervalMs + 1_500 + SLACK_MS);
    },
  );

  it.concurrent('a synchronous standby that is gone leaves no processes behind', async () => {
    await using server = await PostgresServer.start(['-c', 'max_connections=20']);
    await using heartbeats = new StoreHeartbeats(newStore(server.url, lockExpiryMs), lockExpiryMs);
    const most = { connections: 0, waiting: 0 };
    const { errors, backMs } = await heartbeats.during(
      async () => {
        const beginsAt = performance.now();
        await run(server, "ALTER SYSTEM SET synchronous_standby_names = 'gone'", 'SELECT pg_reload_conf()');
        while (performance.now() < beginsAt + 15_000) {
          const [row] = await run(
            server,
            `SELECT count(*)::int AS connections, count(*) FILTER (WHERE wait_event = 'SyncRep')::int AS waiting
            FROM pg_stat_activity WHERE application_name = 'nestjs-singleton-job'`,
          );
          most.connections = Math.max(most.connections, Number(row?.['connections']));
          most.waiting = Math.max(most.waiting, Number(row?.['waiting']));
          await delay(50);
        }
      },
      () => run(server, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()'),
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
