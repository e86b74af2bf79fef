import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { asLockStoreError, type LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { PostgresStore } from '../../libs/singleton-job/src/store/postgres/postgres-store.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { PostgresServer } from '../../tools/replicas/postgres/postgres-server.js';
import { TcpProxy } from '../../tools/replicas/tcp-proxy.js';
import { until } from '../../tools/replicas/until.js';

interface Answer {
  readonly at: number;
  /** Undefined: the heartbeat was confirmed. */
  readonly error: LockStoreError | undefined;
}

/** A replica that does nothing but send heartbeats, with what became of each. */
class Heartbeats implements AsyncDisposable {
  readonly answers: Answer[] = [];
  readonly #store: PostgresStore;
  readonly #working: Promise<void>;
  #isStopped = false;

  constructor(
    port: number,
    readonly lockExpiryMs: number,
  ) {
    const connection = `postgresql://postgres@127.0.0.1:${String(port)}/postgres`;
    this.#store = new PostgresStore({ projectName: 'shop', connection, shortestLifeMs: lockExpiryMs });
    this.#store.open();
    this.#working = this.#work();
  }

  get intervalMs(): number {
    return this.lockExpiryMs < 9_000 ? this.lockExpiryMs / 4 : 3_000;
  }

  confirmedAfter(at: number): Answer | undefined {
    return this.answers.find((answer) => answer.at > at && answer.error === undefined);
  }

  failedAfter(at: number): Answer | undefined {
    return this.answers.find((answer) => answer.at > at && answer.error !== undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#store.close();
    await this.#working;
  }

  async #work(): Promise<void> {
    const lease = `a.1@${String(this.lockExpiryMs)}`;
    for (let isNewcomer = true; !this.#isStopped; isNewcomer = false) {
      const request = { isNewcomer, renew: [], grant: [lease], revoke: [], read: ['price-tick:lock'] };
      const error = await this.#store.sync(request).then(
        () => undefined,
        (reason: unknown) => asLockStoreError(reason),
      );
      this.answers.push({ at: performance.now(), error });
      await delay(error === undefined ? this.intervalMs : Math.min(250, this.intervalMs / 4));
    }
  }
}

interface Fault {
  readonly name: string;
  /** How long it lasts, for a `lockExpiry` of 10 s. */
  readonly forMs: number;
  readonly begin: (server: PostgresServer, proxy: TcpProxy) => Promise<void>;
  readonly end: (server: PostgresServer, proxy: TcpProxy) => Promise<void>;
  /** What the requests say meanwhile. */
  readonly message: RegExp;
}

/** Runs statements as the superuser, on a connection of its own. */
async function run(
  server: PostgresServer,
  ...statements: readonly string[]
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client(server.url);
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query<Record<string, unknown>>(statement));
    return rows;
  } finally {
    await client.end();
  }
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
    message: /terminated unexpectedly|ECONNRESET/,
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

describe.each([10_000, 800])('with a lockExpiry of %i ms,', (lockExpiryMs) => {
  it.concurrent.each(FAULTS)(
    '$name is noticed, and requests go on after it',
    async ({ forMs, begin, end, message }) => {
      await using server = await PostgresServer.start();
      await using proxy = await TcpProxy.start(server.port);
      await using replica = new Heartbeats(Number(new URL(proxy.url).port), lockExpiryMs);
      await until('it is answered', () => replica.confirmedAfter(0) !== undefined);
      await delay(1.2 * replica.intervalMs);
      const beginsAt = performance.now();
      await begin(server, proxy);
      await delay(lockExpiryMs < 1_000 ? forMs / 10 : forMs);
      const endsAt = performance.now();
      await end(server, proxy);
      const upAt = performance.now();
      await until('it is answered again', () => replica.confirmedAfter(upAt) !== undefined);
      expect(replica.failedAfter(beginsAt)?.error?.message).toMatch(message);
      const { at } = replica.confirmedAfter(endsAt) ?? { at: Infinity };
      expect(at - upAt).toBeLessThan(replica.intervalMs + 1_500 + SLACK_MS);
    },
  );

  it.concurrent('a synchronous standby that is gone leaves no processes behind', async () => {
    await using server = await PostgresServer.start(['-c', 'max_connections=20']);
    await using replica = new Heartbeats(server.port, lockExpiryMs);
    await until('it is answered', () => replica.confirmedAfter(0) !== undefined);
    const beginsAt = performance.now();
    await run(server, "ALTER SYSTEM SET synchronous_standby_names = 'gone'", 'SELECT pg_reload_conf()');
    const most = { connections: 0, waiting: 0 };
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
    const endsAt = performance.now();
    await run(server, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()');
    await until('it is answered again', () => replica.confirmedAfter(endsAt) !== undefined);
    expect(replica.failedAfter(beginsAt)?.error?.message).toMatch(/no answer within/);
    expect(most.connections).toBeLessThanOrEqual(5);
    expect(most.waiting).toBeLessThanOrEqual(3);
    // three soon after each other, then one every 5 s
    expect(replica.answers.filter(({ error }) => error?.wasSent === true).length).toBeLessThanOrEqual(7);
    const { at } = replica.confirmedAfter(endsAt) ?? { at: Infinity };
    expect(at - endsAt).toBeLessThan(5_000 + replica.intervalMs + SLACK_MS);
  });
});
