import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { grantSql } from '../../libs/singleton-job/src/store/postgres/schema.js';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { Pgbouncer } from '../../tools/replicas/postgres/pgbouncer.js';
import { PostgresServer } from '../../tools/replicas/postgres/postgres-server.js';
import { TcpProxy } from '../../tools/replicas/tcp-proxy.js';
import { LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { portOf, run, urlOf } from './support/postgres.js';
import { ReplicaPair } from './support/replica-pair.js';

/** P4: after an outage that is longer than a lease, no replica leads for one lock expiry. */
const BACK_MS = LOCK_EXPIRY_MS + 1_000 + SLACK_MS;

interface Fault {
  readonly name: string;
  readonly happen: (server: PostgresServer) => Promise<unknown>;
}

const SHORT: readonly Fault[] = [
  {
    name: 'is killed and starts again at once',
    happen: async (server) => {
      await server.kill();
      await server.up();
    },
  },
  {
    name: 'closes every connection',
    happen: (server) =>
      run(
        server,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'nestjs-singleton-job'",
      ),
  },
];

const LONG: readonly Fault[] = [
  {
    name: 'hangs for 10 s',
    happen: async (server) => {
      await server.pause();
      await delay(10_000);
      await server.resume();
    },
  },
  {
    name: 'is down for longer than a lease',
    happen: async (server) => {
      await server.down();
      await delay(LOCK_EXPIRY_MS + 2_000);
      await server.up();
    },
  },
  {
    name: 'waits for a synchronous standby that is gone',
    happen: async (server) => {
      await run(server, "ALTER SYSTEM SET synchronous_standby_names = 'gone'", 'SELECT pg_reload_conf()');
      await delay(LOCK_EXPIRY_MS + 2_000);
      await run(server, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()');
    },
  },
  {
    name: 'takes the rights of the role away, and gives them back',
    happen: async (server) => {
      await run(server, 'REVOKE UPDATE ON ALL TABLES IN SCHEMA singleton_job FROM app');
      await delay(LOCK_EXPIRY_MS + 2_000);
      await run(server, grantSql('singleton_job', 'app'));
    },
  },
  {
    name: 'has no disk left',
    happen: async (server) => {
      const full = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'";
      await run(
        server,
        `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${full}; END $$`,
        ...['leases', 'records'].map(
          (table) =>
            `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON singleton_job.${table} EXECUTE FUNCTION full_disk()`,
        ),
      );
      await delay(LOCK_EXPIRY_MS + 2_000);
      await run(server, 'DROP FUNCTION full_disk CASCADE');
    },
  },
];

describe('a PostgreSQL that', () => {
  it.concurrent.each(SHORT)('$name costs no lead', async ({ happen }) => {
    await using server = await PostgresServer.start();
    await using pair = await ReplicaPair.start([server.url, server.url]);
    for (let round = 0; round < 10; round++) {
      await happen(server);
      await pair.goesOn();
    }
    expect(pair.violations()).toEqual([]);
    for (const { observer } of pair.replicas) expect(observer.of('leadershipLost')).toEqual([]);
  });

  it.concurrent.each(LONG)('$name ends the leases, and jobs go on by themselves', async ({ happen }) => {
    await using server = await PostgresServer.start();
    await using first = await ReplicaPair.start([server.url, server.url]);
    await first[Symbol.asyncDispose]();
    await run(server, 'CREATE ROLE app LOGIN', grantSql('singleton_job', 'app'));
    const url = server.urlOf('app');
    await using pair = await ReplicaPair.start([url, url]);
    await happen(server);
    await pair.goesOn({ withinMs: 2 * BACK_MS });
    expect(pair.violations()).toEqual([]);
    expect(pair.leader.observer.of('leadershipLost').length).toBeGreaterThan(0);
    const errors = pair.leader.lines.filter((line) => line.startsWith('error: '));
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThan(12);
  });

  it.concurrent('is restored from an older copy is another server, and tokens go on growing', async () => {
    await using server = await PostgresServer.start();
    await using pair = await ReplicaPair.start([server.url, server.url]);
    await server.down();
    const restore = await server.snapshot();
    await server.up();
    await pair.goesOn();
    await pair.leader.pool.close();
    await pair.until('the other one leads', () => pair.follower.leads.size === pair.jobNames.length);
    await server.down();
    await restore();
    await server.up();
    await pair.goesOn({ withinMs: 2 * BACK_MS });
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent('is killed is replaced by a standby without the last second, and jobs go on there', async () => {
    await using primary = await PostgresServer.start();
    await using link = await TcpProxy.start(primary.port);
    await using standby = await primary.standby(portOf(link));
    await using proxy = await TcpProxy.start(primary.port);
    const url = urlOf(proxy);
    await using pair = await ReplicaPair.start([url, url]);
    link.freeze();
    await delay(1_000);
    await primary.kill();
    await standby.promote();
    proxy.redirect(standby.port);
    await pair.goesOn({ withinMs: 2 * BACK_MS });
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent('still takes writes beside its promoted standby has its own leader, until it is gone', async () => {
    await using primary = await PostgresServer.start();
    await using link = await TcpProxy.start(primary.port);
    await using standby = await primary.standby(portOf(link));
    await using left = await TcpProxy.start(primary.port);
    await using right = await TcpProxy.start(primary.port);
    await using pair = await ReplicaPair.start([urlOf(left), urlOf(right)]);
    const { leader, follower } = pair;
    const splitMs = performance.now();
    link.freeze();
    await standby.promote();
    right.redirect(standby.port);
    const lead = () => follower.leads.size === pair.jobNames.length;
    await pair.until('the other side has a leader', lead, { withinMs: 2 * BACK_MS });
    const bothMs = performance.now();
    await pair.until('both have led', () => performance.now() > bothMs + LOCK_EXPIRY_MS);
    for (const of of pair.replicas) {
      expect(of.leads.size).toBe(pair.jobNames.length);
      expect(pair.violations({ of, sinceMs: splitMs })).toEqual([]);
    }

    await primary.kill();
    left.redirect(standby.port);
    await pair.until('the deposed leader knows', () => leader.leads.size === 0);
    const knownMs = performance.now();
    await pair.goesOn();
    expect(follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations({ sinceMs: knownMs })).toEqual([]);
  });

  it.concurrent('is a standby is refused, and the log says so', async () => {
    await using primary = await PostgresServer.start();
    await using pair = await ReplicaPair.start([primary.url, primary.url]);
    await using standby = await primary.standby();
    await using proxy = await TcpProxy.start(primary.port);
    await using moved = await ReplicaPair.start([urlOf(proxy), primary.url]);
    proxy.redirect(standby.port);
    await moved.until('it says so', () => moved.leader.lines.some((line) => line.includes('is a standby')));
    await moved.goesOn();
    expect([...pair.violations(), ...moved.violations()]).toEqual([]);
  });
});

describe.each(['transaction', 'statement'] as const)('pgbouncer in %s mode', (mode) => {
  it('delivers no messages, which is said once, and jobs go on and are handed over', async () => {
    await using server = await PostgresServer.start();
    await using pooler = await Pgbouncer.start(server, mode);
    await using pair = await ReplicaPair.start([pooler.url, pooler.url], { isWithoutMessages: true });
    const warned = () => pair.replicas.map(({ observer }) => observer.of('warning').map(({ code }) => code));
    await pair.until('both have said it', () => warned().every((codes) => codes.length > 0));
    const stoppedAt = performance.now();
    await pair.leader.pool.close();
    await pair.until('the other one leads', () => pair.follower.leads.size === pair.jobNames.length);
    expect(performance.now() - stoppedAt).toBeLessThan(1_000 + SLACK_MS);
    expect(warned()).toEqual([['MESSAGES_NOT_DELIVERED'], ['MESSAGES_NOT_DELIVERED']]);
    expect(pair.violations()).toEqual([]);
  });
});
