import { afterEach, describe, expect, it } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type MysqlSession } from '../../libs/singleton-job/src/store/mysql/mysql-session.js';
import { MysqlStore, type MysqlStoreOptions } from '../../libs/singleton-job/src/store/mysql/mysql-store.js';
import { mysqlMigrations } from '../../libs/singleton-job/src/store/mysql/mysql-tables.js';
import { type SyncRequest, type Write } from '../../libs/singleton-job/src/store/store.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { A, B } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { until } from '../../tools/replicas/until.js';
import { MysqlServer } from '../../tools/servers/mysql-server.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { oneForAll } from '../support/use-redis.js';
import { hammer } from './hammer.js';
import { closeOpened, open, type OpenStore, saying } from './reporting-store.js';
import { SetBackClock } from './set-back-clock.js';

const server = oneForAll(() => MysqlServer.start());
/** It commits nothing by itself, ends each connection with a commit, and a transaction that waited in vain. */
const strict = oneForAll(() =>
  MysqlServer.start(['--autocommit=0', '--completion-type=RELEASE', '--innodb-rollback-on-timeout']),
);
afterEach(closeOpened);

const newProject = () => `p-${randomUUID()}`;
const newDatabase = () => `d_${randomUUID().slice(0, 8)}`;

/** A store of a project of its own. */
const begin = (options: Partial<MysqlStoreOptions> = {}) =>
  open(new MysqlStore({ connection: server().url, projectName: newProject(), ...options }));

/** Carries out statements on a connection of its own. */
async function sql(text: string, ...values: unknown[]): Promise<void> {
  await using connection = await createConnection({ uri: server().url, multipleStatements: true });
  await connection.query(text, values);
}

describeStore(
  { describe, it },
  {
    name: 'the MySQL store',
    makeFixture: () => {
      const [projectName, other] = [newProject(), newProject()];
      const clock = new SetBackClock();
      return {
        newStore: () => clock.giveTo(new MysqlStore({ connection: server().url, projectName })),
        newStoreOfOtherProject: () => new MysqlStore({ connection: server().url, projectName: other }),
        loseData: async () => {
          for (const table of ['leases', 'incarnations', 'records'])
            await sql(`DELETE FROM singleton_job_${table} WHERE project = ?`, projectName);
        },
        setClockBack: (ms) => clock.setBack(ms),
      };
    },
  },
);

it('keeps its promises to many replicas at once', async () => {
  const projectName = newProject();
  await hammer(async () => {
    const { store, replica, events } = begin({ projectName });
    await replica.sync();
    expect(events).toEqual(['connected', 'listening']);
    return store;
    // each request takes several round trips
  }, 15);
});

const LEASE = 'a.1@10000';
const OTHERS = Array.from({ length: 8 }, (_, index) => `b.${String(index)}@10000`);

/** Makes a lease and a record. */
async function put({ replica }: OpenStore, name = 'a:job') {
  await replica.sync({ grant: [LEASE] });
  return replica.put('{}', undefined, { name });
}

/** Another program that has carried out a statement in a transaction, which it leaves open. */
async function inTransaction(url: string, text: string, ...values: unknown[]) {
  const connection = await createConnection(url);
  await connection.query('START TRANSACTION');
  await connection.query(text, values);
  return connection;
}

/** Another program that is making a record. */
const making = (url: string, projectName: string, name: string) =>
  inTransaction(url, 'INSERT INTO singleton_job_records VALUES (?)', [projectName, name, 1, '{}', null]);

it('goes on with its data and its incarnation after a pause, a restart and a kill of the server', async () => {
  const opened = begin();
  const record = await put(opened);
  const { incarnation } = await opened.replica.sync();
  const sync = () => opened.replica.sync({ renew: [LEASE], read: ['a:job'] }).catch(() => undefined);
  for (const fail of ['pause', 'down', 'kill'] as const) {
    await server()[fail]();
    await until('it is disconnected', async () => (await sync()) === undefined);
    await server().resume();
    await server().up();
    let answer: Awaited<ReturnType<typeof sync>>;
    await until('it is answered', async () => (answer = await sync()) !== undefined);
    expect(answer).toMatchObject({ incarnation, records: [record] });
    expect([...(answer?.leases.keys() ?? [])]).toEqual([LEASE]);
  }
  expect(new Set(opened.disconnected.map(({ code }) => code))).toEqual(new Set(['STORE_UNREACHABLE']));
});

it('waits for no row that another replica has locked', async () => {
  const projectName = newProject();
  const opened = begin({ projectName });
  const { replica } = opened;
  const { revision: ifRevision } = await put(opened);
  const lock = (row: string, key: string) =>
    inTransaction(server().url, `SELECT * FROM singleton_job_${row} = ? AND project = ? FOR UPDATE`, key, projectName);

  await using other = await lock('records WHERE name', 'a:job');
  const [, record] = await replica.writeAll([{ name: 'a:job', ifRevision }, { name: 'b:job' }]);
  expect(record).toBeDefined();
  await other.query('UPDATE singleton_job_leases SET ends_at = ends_at - 15000 WHERE project = ?', [projectName]);
  await other.query('COMMIT');

  await using keeper = await lock('leases WHERE id', LEASE);
  // for one more TTL at most: its replica may be renewing it there
  expect((await replica.sync()).leases).toEqual(new Map([[LEASE, 0]]));
  await keeper.query('COMMIT');
  expect(await replica.leases()).toEqual([]);

  // a server may read all rows to find most of them
  await replica.sync({ grant: [LEASE, ...OTHERS] });
  await using reader = await lock('leases WHERE id', LEASE);
  expect(await replica.leases({ revoke: OTHERS })).toEqual([LEASE]);
  await reader.query('COMMIT');

  // for one that is being made, until the server gives up
  await using maker = await making(server().url, projectName, 'c:job');
  const answer = replica.writeAll([{ name: 'b:job', ifRevision: record?.revision }, { name: 'c:job' }]);
  await delay(200);
  // its own rows stay locked until then
  const changed = sql("UPDATE singleton_job_records SET value = '2' WHERE project = ? AND name = 'b:job'", projectName);
  expect(await answer).toEqual([expect.anything(), undefined]);
  await changed;
  await maker.query('ROLLBACK');
  expect(await replica.read('b:job')).toMatchObject([{ value: '2' }]);
});

it('confirms no lease that ended before its renewal, also while another replica removes it', async () => {
  const projectName = newProject();
  const opened = begin({ projectName });
  await put(opened);
  await sql('UPDATE singleton_job_leases SET ends_at = ends_at - 15000 WHERE project = ?', projectName);
  await using other = await createConnection(server().url);
  await other.query('START TRANSACTION');
  const session = opened.store['requests'].session as MysqlSession;
  const { send } = session;
  // after the renewal, which waits for the row, and before the request removes what has ended
  const lockFirst: typeof send = async (...statements) => {
    if (statements.some(([text]) => text.includes('ends_at AS endsAt') && text.includes('SKIP LOCKED')))
      await other.query('SELECT * FROM singleton_job_leases WHERE project = ? FOR UPDATE', [projectName]);
    return send(...statements);
  };
  Object.assign(session, { send: lockFirst });
  const own = await opened.replica.sync({ renew: [LEASE] });
  const others = await opened.replica.sync();
  await other.query('ROLLBACK');
  expect([own.leases, others.leases]).toEqual([new Map(), new Map([[LEASE, 0]])]);
});

it('waits for a locked table no longer than its client does, and keeps its connection', async () => {
  const opened = begin();
  await put(opened);
  const limits = 'SELECT @@lock_wait_timeout AS time, @@innodb_lock_wait_timeout AS revision';
  expect(await opened.store['requests'].session?.statement(limits)).toEqual([{ time: 1, revision: 1 }]);
  await using other = await createConnection(server().url);
  for (const lock of ['LOCK TABLES singleton_job_leases READ', 'FLUSH TABLES WITH READ LOCK']) {
    await other.query(lock);
    const meanwhile = begin();
    for (const { replica } of [opened, meanwhile])
      await expect(replica.sync({ grant: [LEASE] })).rejects.toThrow(/Lock wait timeout.*--single-transaction/);
    await other.query('UNLOCK TABLES');
    expect(await opened.replica.leases({ grant: [LEASE] })).toEqual([LEASE]);
    expect([opened.disconnected, meanwhile.disconnected]).toEqual([[], []]);
  }
});

describe('round trips', () => {
  /** A store behind a network that counts them. */
  async function behindProxy(projectName: string, subscribes = true) {
    const proxy = await TcpProxy.start(server().port);
    const connection = server().url.replace(String(server().port), new URL(proxy.url).port);
    const opened = begin({ connection, projectName, subscribes });
    await opened.replica.sync();
    const end = async () => {
      await opened.store.close();
      await proxy[Symbol.asyncDispose]();
    };
    return { ...opened, proxy, [Symbol.asyncDispose]: end };
  }

  it('are few for each request, and one for nearly every heartbeat', async () => {
    const projectName = newProject();
    await using opened = await behindProxy(projectName, false);
    const { store, replica, proxy } = opened;
    const count = async (send: () => Promise<unknown>) => {
      const before = proxy.roundTrips;
      await send();
      return proxy.roundTrips - before;
    };
    const sync = (request: Partial<SyncRequest>) => count(() => replica.sync(request));
    expect(await sync({ grant: [LEASE, ...OTHERS] })).toBeLessThanOrEqual(3);
    expect(await sync({ renew: [LEASE, ...OTHERS], grant: ['c.1@10000'], read: ['a:job', 'b:job'] })).toBe(1);
    expect(await sync({ revoke: ['c.1@10000'] })).toBe(1);
    await sql("UPDATE singleton_job_leases SET ends_at = 1 WHERE project = ? AND id LIKE 'b.%'", projectName);
    expect(await sync({ renew: [LEASE] })).toBe(3);
    const { revision: ifRevision } = await put(opened);
    const write = (some: Partial<Write>) => count(() => replica.writeAll([some]));
    expect(await write({ name: 'a:job', ifRevision })).toBe(2);
    expect(await write({ name: 'b:lock', forgetAfterMs: 1 })).toBe(3);
    expect(await count(() => store.publish('*'))).toBe(1);
  });

  it('for the hint are made only between requests, because a heartbeat reads it too', async () => {
    const projectName = newProject();
    await using opened = await behindProxy(projectName);
    const { replica, hints, proxy } = opened;
    const { store: other } = begin({ projectName });
    const [before, endAt] = [proxy.roundTrips, performance.now() + 2_500];
    let heartbeats = 0;
    const beat = async () => {
      for (; performance.now() < endAt; heartbeats++) await replica.sync();
    };
    proxy.answerDelayMs = 50;
    await Promise.all([beat(), beat(), other.publish(['x:job'])]);
    expect(proxy.roundTrips - before).toBe(heartbeats);
    expect(hints).toEqual([['x:job']]);
  });
});

it('writes nothing at the time of `until` or later, also if it had to wait', async () => {
  const projectName = newProject();
  const opened = begin({ projectName });
  const { replica } = opened;
  await put(opened);
  await using maker = await making(server().url, projectName, 'b:job');
  const { time } = await replica.sync();
  const answer = replica.writeAll([{ name: 'b:job' }], { until: time + 200 });
  await delay(300);
  await maker.query('ROLLBACK');
  expect(await answer).toEqual([undefined]);
  expect(await replica.read('b:job')).toEqual([undefined]);
});

it('publishes at once on a server that commits nothing by itself, or ends each connection then', async () => {
  const options = { connection: strict().url, projectName: newProject() };
  const [a, b] = [begin(options), begin(options)];
  await a.store.publish(['x:job']);
  await b.store.publish(['y:job']);
  const hint = 'SELECT value, revision FROM singleton_job_records WHERE project = ?';
  const last = await b.store['requests'].session?.statement(hint, options.projectName);
  expect(last).toEqual([{ value: '"y:job"', revision: 2 }]);
  await put(a);
  expect(a.disconnected).toEqual([]);
});

it('reads and removes all rows on a server that limits what a statement may do', async () => {
  await using connection = await createConnection({ uri: strict().url });
  await connection.query('SET GLOBAL sql_select_limit = 1, GLOBAL sql_safe_updates = 1, GLOBAL sql_auto_is_null = 1');
  const { replica } = begin({ connection: strict().url });
  await replica.sync({ grant: [A, B] });
  const leases = await replica.leases();
  await connection.query(
    'SET GLOBAL sql_select_limit = DEFAULT, GLOBAL sql_safe_updates = 0, GLOBAL sql_auto_is_null = 0',
  );
  expect(leases).toEqual([A, B]);
});

it('takes a hint that another program wrote for one about everything', async () => {
  const projectName = newProject();
  const { replica, hints } = begin({ projectName });
  await replica.sync();
  await sql('INSERT INTO singleton_job_records VALUES (?)', [projectName, 'hint', 1, 'no JSON', null]);
  await until('the hint arrives', () => hints.length > 0);
  expect(hints).toEqual(['*']);
});

it('writes all or nothing on a server that ends a transaction that waited in vain', async () => {
  const projectName = newProject();
  const opened = begin({ connection: strict().url, projectName });
  const { revision: ifRevision } = await put(opened);
  await using maker = await making(strict().url, projectName, 'b:job');
  const answer = opened.replica.writeAll([{ name: 'a:job', ifRevision }, { name: 'b:job' }]);
  await expect(answer).rejects.toThrow('SAVEPOINT seen does not exist');
  await maker.query('ROLLBACK');
});

it('frees the rows of a process that stalls in a transaction, and lets an idle connection stay', async () => {
  const options = { projectName: 'stall' };
  const [stalled, other] = [begin(options), begin(options)];
  const { revision: ifRevision } = await put(stalled);
  const write = async () => (await other.replica.writeAll([{ name: 'a:job', ifRevision }]))[0];
  const session = stalled.store['requests'].session;
  const beginning = session?.dialect.begin ?? [];
  await session?.request(() => session.send(...beginning, ['no SQL'])).catch(() => undefined);
  expect(await session?.query('SELECT @@SESSION.wait_timeout - @@GLOBAL.wait_timeout AS time')).toEqual([{ time: 0 }]);
  await new Promise((locked) => {
    void session?.request(async () => {
      const lock = 'SELECT * FROM singleton_job_records WHERE project = ? FOR UPDATE';
      locked(await session.send(...beginning, [lock, 'stall']));
      await new Promise(() => undefined);
    });
  });
  expect(await write()).toBeUndefined();
  await until('it is free', async () => (await write()) !== undefined);
  expect(stalled.events).toContain('disconnected');
});

it('makes its tables again when a migration has dropped them', async () => {
  const name = newDatabase();
  await sql(`CREATE DATABASE ${name}`);
  const { replica } = begin({ connection: server().urlOf('root', name) });
  await replica.sync();
  await sql(`USE ${name}; DROP TABLE singleton_job_leases`);
  await until('it answers', () => replica.sync().then(Boolean, () => false));
});

it('makes its tables where old servers have other defaults', async () => {
  const name = newDatabase();
  await sql(`CREATE DATABASE ${name}; SET GLOBAL innodb_default_row_format = compact`);
  await put(begin({ connection: server().urlOf('root', name) })).finally(() =>
    sql('SET GLOBAL innodb_default_row_format = dynamic'),
  );
});

it.each([
  { charset: 'latin1' },
  { charset: 'UCS2_GENERAL_CI' },
  { charset: 'BINARY' },
  { flags: '-MULTI_STATEMENTS' },
  { queryFormat: () => 'SELECT 1' },
])('takes no form of statements or texts from the application: %p', async (options) => {
  const mysql = { uri: server().url, ...options };
  const name = 'größe 🚆:job';
  await put(begin({ connection: { mysql } }), name);
  await using other = await createConnection(server().url);
  const [rows] = await other.query('SELECT name FROM singleton_job_records WHERE name = ?', [name]);
  expect(rows).toContainEqual({ name });
});

it.each([
  ['that migrations made', true],
  ['that it makes', false],
])('a user needs the documented rights and no others, with tables %s', async (_what, areThere) => {
  const page = readFileSync(join(ROOT, 'docs/production/mysql.md'), 'utf8');
  const grants = page.match(/^GRANT .*;$/gm)?.filter((line) => !areThere || !line.startsWith('GRANT CREATE')) ?? [];
  expect(grants.length).toBeGreaterThan(2);
  const name = newDatabase();
  await sql(`CREATE DATABASE ${name}; CREATE USER ${name}; USE ${name}; ${mysqlMigrations().join(';')}`);
  await sql(grants.join('').replaceAll('shop.', `${name}.`).replaceAll('TO app', `TO ${name}`));
  const tables = 'singleton_job_incarnations, singleton_job_leases, singleton_job_records';
  if (!areThere) await sql(`USE ${name}; DROP TABLE ${tables}`);
  await put(begin({ connection: server().urlOf(name, name) }));
});

it.each([
  ['a user without rights', { user: 'stranger' }, /Run as an administrator: GRANT SELECT/],
  ['a user that is unknown', { user: 'unknown', password: 'x' }, /Check user and password/],
  ['a user that needs TLS', { user: 'careful' }, /or add TLS/],
  ['a database that is missing', { database: 'missing' }, /Check the name of the database/],
  ['tables that are missing, with migrate: false', { database: 'bare' }, /run the SQL of mysqlMigrations\(\)/],
])('says what to do about %s', async (_what, config, fix) => {
  await sql('CREATE DATABASE IF NOT EXISTS bare; CREATE USER IF NOT EXISTS stranger');
  await sql('CREATE USER IF NOT EXISTS careful REQUIRE SSL');
  const mysql = { host: '127.0.0.1', port: server().port, user: 'root', database: 'shop', ...config };
  const { replica, disconnected } = begin({ connection: { mysql }, migrate: false });
  await expect(replica.sync()).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
  expect(disconnected[0]?.message).toMatch(fix);
});

it('warns of a server that confirms what a crash loses', async () => {
  await using lossy = await MysqlServer.start(['--log-bin', '--sync-binlog=0', '--innodb-flush-log-at-trx-commit=2']);
  const lost = saying('WRITES_CAN_BE_LOST', ': set innodb_flush_log_at_trx_commit = 1 and sync_binlog = 1, or');
  for (const [connection, warning] of [[lossy.url, lost], [server().url]] as const) {
    const { replica, warnings } = begin({ connection });
    await replica.sync();
    expect(warnings).toEqual(warning === undefined ? [] : [warning]);
  }
});
