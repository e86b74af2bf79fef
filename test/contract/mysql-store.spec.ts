import { afterEach, describe, expect, it } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type MysqlSession } from '../../libs/singleton-job/src/store/mysql/mysql-session.js';
import { MysqlStore } from '../../libs/singleton-job/src/store/mysql/mysql-store.js';
import { mysqlMigrations } from '../../libs/singleton-job/src/store/mysql/mysql-tables.js';
import { type SyncRequest, type Write } from '../../libs/singleton-job/src/store/store.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { until } from '../../tools/replicas/until.js';
import { MysqlServer } from '../../tools/servers/mysql-server.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { oneForAll } from '../support/use-redis.js';
import { hammer } from './hammer.js';
import { closeOpened, open, type OpenStore, READS } from './reporting-store.js';
import { setBackClock } from './set-back-clock.js';

const server = oneForAll(() => MysqlServer.start());
/** It commits nothing by itself, ends each connection with a commit, and a transaction that waited in vain. */
const strict = oneForAll(() =>
  MysqlServer.start(['--autocommit=0', '--completion-type=RELEASE', '--innodb-rollback-on-timeout']),
);
afterEach(closeOpened);

const newProject = () => `p-${randomUUID()}`;
const newStore = (projectName: string) => new MysqlStore({ connection: server().url, projectName });

/** Carries out statements on a connection of its own. */
async function sql(text: string, ...values: unknown[]): Promise<void> {
  await using connection = await createConnection({ uri: server().url, multipleStatements: true });
  await connection.query(text, values);
}

let setBackMs = 0;

class SetBackStore extends MysqlStore {
  protected override async newSession(...args: Parameters<MysqlStore['newSession']>): Promise<MysqlSession> {
    return setBackClock(await super.newSession(...args), () => setBackMs);
  }
}

describeStore(
  { describe, it },
  {
    name: 'the MySQL store',
    makeFixture: () => {
      const [projectName, other] = [newProject(), newProject()];
      return {
        newStore: () => new SetBackStore({ connection: server().url, projectName }),
        newStoreOfOtherProject: () => newStore(other),
        loseData: async () => {
          for (const table of ['leases', 'incarnations', 'records'])
            await sql(`DELETE FROM singleton_job_${table} WHERE project = ?`, projectName);
        },
        setClockBack: (ms) => Promise.resolve(void (setBackMs = ms)),
        end: () => Promise.resolve(void (setBackMs = 0)),
      };
    },
  },
);

it('keeps its promises to many replicas at once', async () => {
  const projectName = newProject();
  const { problems, isEnough } = await hammer(async () => {
    const { store, events } = open(newStore(projectName));
    await store.sync(READS);
    expect(events).toEqual(['connected', 'listening']);
    return store;
    // each request takes several round trips
  }, 15);
  expect([[...problems], isEnough]).toEqual([[], true]);
});

const LEASE = 'a.1@10000';
const OTHERS = Array.from({ length: 8 }, (_, index) => `b.${String(index)}@10000`);

/** Makes a lease and a record. */
async function put({ store }: OpenStore, name = 'a:job') {
  const { incarnation, time } = await store.sync({ ...READS, grant: [LEASE] });
  const request = { incarnation: incarnation.id, until: time + 10_000 };
  const [revision = 0] = await store.compareAndSet({ ...request, writes: [{ name, ifRevision: 0, value: '{}' }] });
  return { ...request, revision };
}

it('goes on with its data and its incarnation after a pause, a restart and a kill of the server', async () => {
  const opened = open(newStore(newProject()));
  const { incarnation } = await put(opened);
  const sync = () => opened.store.sync({ ...READS, renew: [LEASE], read: ['a:job'] }).catch(() => undefined);
  for (const fail of ['pause', 'down', 'kill'] as const) {
    await server()[fail]();
    await until('it is disconnected', async () => (await sync()) === undefined);
    await server().resume();
    await server().up();
    let answer: Awaited<ReturnType<typeof sync>>;
    await until('it is answered', async () => (answer = await sync()) !== undefined);
    expect(answer?.incarnation.id).toBe(incarnation);
    expect([...(answer?.leases.keys() ?? [])]).toEqual([LEASE]);
    expect(answer?.records).toEqual([expect.objectContaining({ value: '{}' })]);
  }
  expect(new Set(opened.disconnected.map(({ code }) => code))).toEqual(new Set(['STORE_UNREACHABLE']));
});

it('waits for no row that another replica has locked', async () => {
  const projectName = newProject();
  const opened = open(newStore(projectName));
  const { revision: ifRevision, ...request } = await put(opened);
  await using other = await createConnection(server().url);
  const lock = async (row: string, key: string) => {
    await other.query('START TRANSACTION');
    await other.query(`SELECT * FROM singleton_job_${row} = ? AND project = ? FOR UPDATE`, [key, projectName]);
  };
  await lock('records WHERE name', 'a:job');
  const writes = [
    { name: 'a:job', ifRevision, value: '{}' },
    { name: 'b:job', ifRevision: 0, value: '{}' },
  ];
  const [, revision = 0] = await opened.store.compareAndSet({ ...request, writes });
  expect(revision).toBeGreaterThan(0);
  await other.query('UPDATE singleton_job_leases SET ends_at = ends_at - 15000 WHERE project = ?', [projectName]);
  await other.query('COMMIT');

  await lock('leases WHERE id', LEASE);
  // for one more TTL at most: its replica may be renewing it there
  expect((await opened.store.sync(READS)).leases).toEqual(new Map([[LEASE, 0]]));
  await other.query('COMMIT');
  expect((await opened.store.sync(READS)).leases.size).toBe(0);

  // a server may read all rows to find most of them
  await opened.store.sync({ ...READS, grant: [LEASE, ...OTHERS] });
  await lock('leases WHERE id', LEASE);
  const { leases } = await opened.store.sync({ ...READS, revoke: OTHERS });
  expect([...leases.keys()]).toEqual([LEASE]);
  await other.query('COMMIT');

  // for one that is being made, until the server gives up
  await other.query('START TRANSACTION');
  await other.query('INSERT INTO singleton_job_records VALUES (?)', [[projectName, 'c:job', 1, '{}', null]]);
  const more = [
    { name: 'b:job', ifRevision: revision, value: '{}' },
    { name: 'c:job', ifRevision: 0, value: '{}' },
  ];
  const answer = opened.store.compareAndSet({ ...request, writes: more });
  await delay(200);
  // its own rows stay locked until then
  await using third = await createConnection(server().url);
  const change = "UPDATE singleton_job_records SET value = '2' WHERE project = ? AND name = 'b:job'";
  const changed = third.query(change, [projectName]);
  expect(await answer).toEqual([expect.any(Number), undefined]);
  await changed;
  const { records } = await opened.store.sync({ ...READS, read: ['b:job'] });
  expect(records).toEqual([expect.objectContaining({ value: '2' })]);
});

it('confirms no lease that ended before its renewal, also while another replica removes it', async () => {
  const projectName = newProject();
  const opened = open(newStore(projectName));
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
  const own = await opened.store.sync({ ...READS, renew: [LEASE] });
  const others = await opened.store.sync(READS);
  await other.query('ROLLBACK');
  expect([own.leases, others.leases]).toEqual([new Map(), new Map([[LEASE, 0]])]);
});

it('waits for a locked table no longer than its client does, and keeps its connection', async () => {
  const opened = open(newStore(newProject()));
  await put(opened);
  const limits = 'SELECT @@lock_wait_timeout AS time, @@innodb_lock_wait_timeout AS revision';
  expect(await opened.store['requests'].session?.statement(limits)).toEqual([{ time: 1, revision: 1 }]);
  await using other = await createConnection(server().url);
  for (const lock of ['LOCK TABLES singleton_job_leases READ', 'FLUSH TABLES WITH READ LOCK']) {
    await other.query(lock);
    const meanwhile = open(newStore(newProject()));
    for (const { store } of [opened, meanwhile])
      await expect(store.sync({ ...READS, grant: [LEASE] })).rejects.toThrow(/Lock wait timeout.*--single-transaction/);
    await other.query('UNLOCK TABLES');
    expect((await opened.store.sync({ ...READS, grant: [LEASE] })).leases.size).toBe(1);
    expect([opened.disconnected, meanwhile.disconnected]).toEqual([[], []]);
  }
});

describe('round trips', () => {
  /** A store behind a network that counts them. */
  async function behindProxy(projectName: string, subscribes = true) {
    const proxy = await TcpProxy.start(server().port);
    const connection = server().url.replace(String(server().port), new URL(proxy.url).port);
    const opened = open(new MysqlStore({ connection, projectName, subscribes }));
    await opened.store.sync(READS);
    const end = async () => {
      await opened.store.close();
      await proxy[Symbol.asyncDispose]();
    };
    return { ...opened, proxy, [Symbol.asyncDispose]: end };
  }

  it('are few for each request, and one for nearly every heartbeat', async () => {
    const projectName = newProject();
    await using opened = await behindProxy(projectName, false);
    const { store, proxy } = opened;
    const count = async (send: () => Promise<unknown>) => {
      const before = proxy.roundTrips;
      await send();
      return proxy.roundTrips - before;
    };
    const sync = (request: Partial<SyncRequest>) => count(() => store.sync({ ...READS, ...request }));
    expect(await sync({ grant: [LEASE, ...OTHERS] })).toBeLessThanOrEqual(3);
    expect(await sync({ renew: [LEASE, ...OTHERS], grant: ['c.1@10000'], read: ['a:job', 'b:job'] })).toBe(1);
    expect(await sync({ revoke: ['c.1@10000'] })).toBe(1);
    await sql("UPDATE singleton_job_leases SET ends_at = 1 WHERE project = ? AND id LIKE 'b.%'", projectName);
    expect(await sync({ renew: [LEASE] })).toBe(3);
    const { revision, ...request } = await put(opened);
    const [job, lock] = [
      { name: 'a:job', ifRevision: revision },
      { name: 'b:lock', ifRevision: 0, forgetAfterMs: 1 },
    ];
    const write = (some: Omit<Write, 'value'>) =>
      count(() => store.compareAndSet({ ...request, writes: [{ ...some, value: '{}' }] }));
    expect(await write(job)).toBe(2);
    expect(await write(lock)).toBe(3);
    expect(await count(() => store.publish('*'))).toBe(1);
  });

  it('for the hint are made only between requests, because a heartbeat reads it too', async () => {
    const projectName = newProject();
    await using opened = await behindProxy(projectName);
    const { store, proxy } = opened;
    const hints: unknown[] = [];
    store.addListener({ hint: (names) => hints.push(names) });
    const { store: other } = open(newStore(projectName));
    const [before, endAt] = [proxy.roundTrips, performance.now() + 2_500];
    let heartbeats = 0;
    const beat = async () => {
      for (; performance.now() < endAt; heartbeats++) await store.sync(READS);
    };
    proxy.answerDelayMs = 50;
    await Promise.all([beat(), beat(), other.publish(['x:job'])]);
    expect(proxy.roundTrips - before).toBe(heartbeats);
    expect(hints).toEqual([['x:job']]);
  });
});

it('writes nothing at the time of `until` or later, also if it had to wait', async () => {
  const projectName = newProject();
  const opened = open(newStore(projectName));
  const request = await put(opened);
  await using other = await createConnection(server().url);
  await other.query('START TRANSACTION');
  await other.query('INSERT INTO singleton_job_records VALUES (?)', [[projectName, 'b:job', 1, '{}', null]]);
  const { time } = await opened.store.sync(READS);
  const writes = [{ name: 'b:job', ifRevision: 0, value: '{}' }];
  const answer = opened.store.compareAndSet({ ...request, until: time + 200, writes });
  await delay(300);
  await other.query('ROLLBACK');
  expect(await answer).toEqual([undefined]);
  expect((await opened.store.sync({ ...READS, read: ['b:job'] })).records).toEqual([undefined]);
});

it('publishes at once on a server that commits nothing by itself, or ends each connection then', async () => {
  const options = { connection: strict().url, projectName: newProject() };
  const [a, b] = [open(new MysqlStore(options)), open(new MysqlStore(options))];
  await a.store.publish(['x:job']);
  await b.store.publish(['y:job']);
  const hint = 'SELECT value, revision FROM singleton_job_records WHERE project = ?';
  const last = await b.store['requests'].session?.statement(hint, options.projectName);
  expect(last).toEqual([{ value: '"y:job"', revision: 2 }]);
  expect((await put(a)).revision).toBeGreaterThan(0);
  expect(a.disconnected).toEqual([]);
});

it('reads and removes all rows on a server that limits what a statement may do', async () => {
  await using connection = await createConnection({ uri: strict().url });
  await connection.query('SET GLOBAL sql_select_limit = 1, GLOBAL sql_safe_updates = 1, GLOBAL sql_auto_is_null = 1');
  const { store } = open(new MysqlStore({ connection: strict().url, projectName: newProject() }));
  const [a, b] = ['a.1@10000', 'b.1@10000'] as const;
  await store.sync({ ...READS, isNewcomer: true, grant: [a, b] });
  const { leases } = await store.sync(READS);
  await connection.query(
    'SET GLOBAL sql_select_limit = DEFAULT, GLOBAL sql_safe_updates = 0, GLOBAL sql_auto_is_null = 0',
  );
  expect([...leases.keys()]).toEqual([a, b]);
});

it('takes a hint that another program wrote for one about everything', async () => {
  const projectName = newProject();
  const { store } = open(newStore(projectName));
  await store.sync(READS);
  const heard = new Promise((resolve) => {
    store.addListener({ hint: resolve });
  });
  await sql('INSERT INTO singleton_job_records VALUES (?)', [projectName, 'hint', 1, 'no JSON', null]);
  expect(await heard).toBe('*');
});

it('writes all or nothing on a server that ends a transaction that waited in vain', async () => {
  const projectName = newProject();
  const opened = open(new MysqlStore({ connection: strict().url, projectName }));
  const { revision, ...request } = await put(opened);
  await using other = await createConnection(strict().url);
  await other.query('START TRANSACTION');
  await other.query('INSERT INTO singleton_job_records VALUES (?)', [[projectName, 'b:job', 1, '{}', null]]);
  const writes = [
    { name: 'a:job', ifRevision: revision, value: '2' },
    { name: 'b:job', ifRevision: 0, value: '2' },
  ];
  const answer = opened.store.compareAndSet({ ...request, until: request.until + 60_000, writes });
  await expect(answer).rejects.toThrow('SAVEPOINT seen does not exist');
});

it('frees the rows of a process that stalls in a transaction, and lets an idle connection stay', async () => {
  const [stalled, other] = [open(newStore('stall')), open(newStore('stall'))];
  const { revision: ifRevision, ...request } = await put(stalled);
  const session = stalled.store['requests'].session;
  const begin = session?.dialect.begin ?? [];
  await session?.request(() => session.send(...begin, ['no SQL'])).catch(() => undefined);
  expect(await session?.query('SELECT @@SESSION.wait_timeout - @@GLOBAL.wait_timeout AS time')).toEqual([{ time: 0 }]);
  await new Promise((locked) => {
    void session?.request(async () => {
      const lock = 'SELECT * FROM singleton_job_records WHERE project = ? FOR UPDATE';
      locked(await session.send(...begin, [lock, 'stall']));
      await new Promise(() => undefined);
    });
  });
  expect(await write()).toBeUndefined();
  await until('it is free', async () => (await write()) !== undefined);
  expect(stalled.events).toContain('disconnected');

  async function write(): Promise<number | undefined> {
    const writes = [{ name: 'a:job', ifRevision, value: '{}' }];
    return (await other.store.compareAndSet({ ...request, until: request.until + 60_000, writes }))[0];
  }
});

it('makes its tables again when a migration has dropped them', async () => {
  const [name, projectName] = [`d_${randomUUID().slice(0, 8)}`, newProject()];
  await sql(`CREATE DATABASE ${name}`);
  const { store } = open(new MysqlStore({ connection: server().url.replace('/shop', `/${name}`), projectName }));
  await store.sync(READS);
  await sql(`USE ${name}; DROP TABLE singleton_job_leases`);
  await until('it answers', () => store.sync(READS).then(Boolean, () => false));
});

it('makes its tables where old servers have other defaults', async () => {
  const name = `d_${randomUUID().slice(0, 8)}`;
  await sql(`CREATE DATABASE ${name}; SET GLOBAL innodb_default_row_format = compact`);
  const opened = open(new MysqlStore({ connection: server().url.replace('/shop', `/${name}`), projectName: 'myapp' }));
  await put(opened).finally(() => sql('SET GLOBAL innodb_default_row_format = dynamic'));
});

it.each([
  { charset: 'latin1' },
  { charset: 'UCS2_GENERAL_CI' },
  { charset: 'BINARY' },
  { flags: '-MULTI_STATEMENTS' },
  { queryFormat: () => 'SELECT 1' },
])('takes no form of statements or texts from the application: %p', async (options) => {
  const mysql = { uri: server().url, ...options };
  const opened = open(new MysqlStore({ connection: { mysql }, projectName: newProject() }));
  const name = 'größe 🚆:job';
  await put(opened, name);
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
  const name = `u_${randomUUID().slice(0, 8)}`;
  await sql(`CREATE DATABASE ${name}; CREATE USER ${name}; USE ${name}; ${mysqlMigrations().join(';')}`);
  await sql(grants.join('').replaceAll('shop.', `${name}.`).replaceAll('TO app', `TO ${name}`));
  const tables = 'singleton_job_incarnations, singleton_job_leases, singleton_job_records';
  if (!areThere) await sql(`USE ${name}; DROP TABLE ${tables}`);
  const connection = server().urlOf(name).replace('/shop', `/${name}`);
  const opened = open(new MysqlStore({ connection, projectName: 'myapp' }));
  expect((await put(opened)).revision).toBeGreaterThan(0);
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
  const { store, disconnected } = open(new MysqlStore({ connection: { mysql }, projectName: 'myapp', migrate: false }));
  await expect(store.sync(READS)).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
  expect(disconnected[0]?.message).toMatch(fix);
});

it('warns of a server that confirms what a crash loses', async () => {
  await using lossy = await MysqlServer.start(['--log-bin', '--sync-binlog=0', '--innodb-flush-log-at-trx-commit=2']);
  const message = expect.stringMatching(/: set innodb_flush_log_at_trx_commit = 1 and sync_binlog = 1, or/) as unknown;
  for (const [connection, warning] of [[lossy.url, { code: 'WRITES_CAN_BE_LOST', message }], [server().url]] as const) {
    const { store, warnings } = open(new MysqlStore({ connection, projectName: 'myapp' }));
    await store.sync(READS);
    expect(warnings).toEqual(warning === undefined ? [] : [warning]);
  }
});
