import { beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ttlOf } from '../../libs/singleton-job/src/store/lease-id.js';
import { type PostgresStoreOptions } from '../../libs/singleton-job/src/store/postgres/postgres-store.js';
import { grantSql, postgresMigrations } from '../../libs/singleton-job/src/store/postgres/schema.js';
import {
  A,
  B,
  until,
  LONG_MS,
  NAME,
  type SuiteClient,
} from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { Pgbouncer } from '../support/pgbouncer.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TlsCertificate } from '../support/tls-certificate.js';
import { oneForAll } from '../support/use-redis.js';
import { PostgresFixture } from './postgres-fixture.js';
import { isListening, saying } from './reporting-store.js';

const fixture = oneForAll(() => PostgresFixture.start());

const newProject = () => `p-${randomUUID()}`;
const newName = () => `n${randomUUID().replaceAll('-', '')}`;

/** A replica of a project of its own, with the lease `A`. */
async function replica(
  options: Partial<PostgresStoreOptions> = {},
): Promise<SuiteClient & { readonly projectName: string }> {
  const projectName = newProject();
  const { replica } = fixture().begin({ projectName, subscribes: false, ...options });
  await replica.sync({ isNewcomer: true, grant: [A] });
  return Object.assign(replica, { projectName });
}

/** What a transaction of another program locks. */
function row(table: 'leases' | 'records', project: string, key = ''): string {
  const column = table === 'leases' ? 'id' : 'name';
  return `SELECT FROM singleton_job.${table} WHERE project = '${project}' AND ${column} LIKE '${key}%' FOR UPDATE`;
}

/** Does `meanwhile` while a transaction has carried out `sql`, then ends it. */
async function during<T>(sql: string, meanwhile: () => Promise<T>): Promise<T> {
  const client = await fixture().client();
  try {
    await client.query('BEGIN');
    await client.query(sql);
    return await meanwhile();
  } finally {
    await client.query('ROLLBACK');
    await client.end();
  }
}

describe('a transaction that another program leaves open', () => {
  it('on a lease that has ended ends no heartbeat by its time limit, and the lease is gone one TTL later', async () => {
    const a = await replica();
    await a.sync({ grant: ['dead.1@1000'] });
    await during(row('leases', a.projectName, 'dead'), async () => {
      await delay(1_050);
      const { leases } = await a.sync({ renew: [A] });
      expect([...leases.keys()].sort()).toEqual([A, 'dead.1@1000']);
      expect(leases.get('dead.1@1000')).toBe(0);
      await delay(1_000);
      expect(await a.leases()).toEqual([A]);
    });
    expect(await a.leases()).toEqual([A]);
  });

  it('on one record of three leaves that one as it is, and the others are written', async () => {
    const a = await replica();
    const names = ['one:job', 'two:job', 'three:job'];
    const writesAt = (records: readonly ({ readonly revision: number } | undefined)[]) =>
      names.map((name, i) => ({ name, ifRevision: records[i]?.revision ?? 0 }));
    const before = await a.writeAll(writesAt([]));
    const after = await during(row('records', a.projectName, 'two'), () => a.writeAll(writesAt(before)));
    expect(after).toEqual([expect.anything(), undefined, expect.anything()]);
    expect(await a.writeAll(writesAt([after[0], before[1], after[2]]))).not.toContain(undefined);
  });

  it('on the lease of the replica rejects its heartbeat after a second', async () => {
    const a = await replica();
    await during(row('leases', a.projectName), async () => {
      const lockTimeout = saying('STORE_UNREACHABLE', /answered 'sync' with .*lock timeout \(55P03\)$/);
      const rejected = expect(a.sync({ renew: [A] })).rejects.toMatchObject(lockTimeout);
      const sentAt = performance.now();
      await rejected;
      expect(performance.now() - sentAt).toBeGreaterThan(900);
    });
    expect(await a.leases({ renew: [A] })).toEqual([A]);
  });

  it('on the lease of the replica does not shorten it: the clock is read after the wait', async () => {
    const a = await replica();
    const sync = await during(row('leases', a.projectName), async () => {
      const answer = a.sync({ renew: [A] });
      await delay(400);
      return { answer, endedAt: Date.now() };
    });
    const { time, leases } = await sync.answer;
    expect(time).toBeGreaterThanOrEqual(sync.endedAt - 1);
    expect(leases.get(A)).toBe(LONG_MS);
  });

  it('that only reads does not make a change of the schema block heartbeats for long', async () => {
    const schema = newName();
    const a = await replica({ schema });
    const alter = await fixture().client();
    await during(`LOCK TABLE "${schema}".leases IN ACCESS SHARE MODE`, async () => {
      void alter.query(`ALTER TABLE "${schema}".leases ADD COLUMN more int`).catch(() => undefined);
      const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '"${schema}".leases'::regclass`;
      await until('the change waits', async () => (await fixture().sql(waiting))[0]);
      await expect(a.sync({ renew: [A] })).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    });
    expect(await until('it is answered', () => a.leases({ renew: [A] }))).toEqual([A]);
    await alter.end();
  });
});

describe('a role', () => {
  it('needs the documented rights, and without them the error has the lines that grant them', async () => {
    await replica();
    await fixture().sql('CREATE ROLE app LOGIN; REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
    const options = { connection: fixture().server.urlOf('app'), migrate: false };
    const grants = grantSql('singleton_job', 'app');
    await expect(replica(options)).rejects.toMatchObject(saying('STORE_MISCONFIGURED', grants));
    await fixture().sql(grants);
    const a = await replica(options);
    await a.put('2', await a.put());
    await a.store.publish?.('*');
    await a.sync({ revoke: [A] });
  });

  it('without the right to a function of the server learns it', async () => {
    const revoked = 'EXECUTE ON FUNCTION pg_postmaster_start_time()';
    await fixture().sql(
      `CREATE ROLE strict LOGIN; GRANT CREATE ON DATABASE postgres TO strict; REVOKE ${revoked} FROM PUBLIC`,
    );
    const options = { connection: fixture().server.urlOf('strict'), schema: newName() };
    const fix = 'Run as a superuser: GRANT EXECUTE ON FUNCTION pg_postmaster_start_time TO "strict"';
    await expect(replica(options)).rejects.toMatchObject(saying('STORE_MISCONFIGURED', fix));
    await fixture().sql(`GRANT ${revoked} TO PUBLIC`);
    await replica(options);
  });

  it('without the right to notify is warned once, whether it listens or only sends, and listens once it has it', async () => {
    await replica();
    const right = 'EXECUTE ON FUNCTION pg_notify(text, text)';
    await fixture().sql(`CREATE ROLE mute LOGIN; REVOKE ${right} FROM PUBLIC`);
    await fixture().sql(grantSql('singleton_job', 'mute'));
    const options = { connection: fixture().server.urlOf('mute'), migrate: false, projectName: newProject() };
    const [listener, sender] = [fixture().begin(options), fixture().begin({ ...options, subscribes: false })];
    await sender.replica.sync({ isNewcomer: true, grant: [A] });
    for (let time = 0; time < 2; time++)
      await expect(sender.store.publish('*')).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    await until('the listener is warned', () => listener.warnings.at(0));
    const fix = 'Run as a superuser: GRANT EXECUTE ON FUNCTION pg_notify TO "mute"';
    const warning = saying('HINTS_NOT_DELIVERED', fix);
    expect([listener.warnings, sender.warnings]).toMatchObject([[warning], [warning]]);
    await fixture().sql(`GRANT ${right} TO PUBLIC`);
    await isListening(listener);
  });

  it.each([
    "default_transaction_isolation = 'repeatable read'",
    'default_transaction_isolation = serializable',
    "default_transaction_isolation = 'read uncommitted'",
    'standard_conforming_strings = off',
    "plpgsql.extra_errors = 'all'",
    'plpgsql.variable_conflict = use_variable',
    'transform_null_equals = on',
    'array_nulls = off',
    'search_path = nowhere',
  ])('may have %s for its role', async (setting) => {
    const role = newName();
    await fixture().sql(`CREATE ROLE ${role} LOGIN SUPERUSER; ALTER ROLE ${role} SET ${setting}`);
    const a = await replica({ connection: fixture().server.urlOf(role), schema: newName() });
    for (let round = 0; round < 3; round++) expect((await a.sync({ renew: [A] })).leases.get(A)).toBe(ttlOf(A));
    const record = await a.put();
    expect(await a.read(NAME)).toEqual([record]);
  });

  it('frees the rows of a process that stalls in a transaction of several requests', async () => {
    const role = newName();
    const level = "default_transaction_isolation = 'serializable'";
    await fixture().sql(`CREATE ROLE ${role} LOGIN SUPERUSER; ALTER ROLE ${role} SET ${level}`);
    const projectName = newProject();
    const options = { projectName, subscribes: false };
    const { store, replica: stalled } = fixture().begin({ ...options, connection: fixture().server.urlOf(role) });
    const { replica: other } = fixture().begin(options);
    await stalled.sync({ isNewcomer: true, grant: [A] });
    const record = await stalled.put();
    await other.sync();
    const { session } = store['requests'];
    const { query } = session ?? {};
    const stalls = (text: string, values?: unknown[]) =>
      text === 'COMMIT' ? new Promise(() => undefined) : query?.(text, values);
    Object.assign(session ?? {}, { query: stalls });
    void stalled.write('{}', record).catch(() => undefined);
    const free = `${row('records', projectName)} SKIP LOCKED`;
    await until('the row is locked', async () => (await fixture().sql(free)).length === 0 || undefined);
    await until('the row is free', () => other.write('{}', record));
  });

  it('that may have one connection has no hints, and learns how many a process needs', async () => {
    await replica();
    await fixture().sql(`CREATE ROLE one LOGIN CONNECTION LIMIT 1; ${grantSql('singleton_job', 'one')}`);
    const options = { connection: fixture().server.urlOf('one'), migrate: false, projectName: newProject() };
    const { replica: a, warnings } = fixture().begin(options);
    await a.sync({ isNewcomer: true, grant: [A] });
    await until('it is warned', () => warnings.at(0));
    const fix = 'CONNECTION LIMIT of the role, or use fewer: a process needs two';
    expect(warnings).toMatchObject([saying('HINTS_NOT_DELIVERED', fix)]);
  });

  it('whose transactions are read only is refused with the fix, and stays connected', async () => {
    await replica();
    await fixture().sql('CREATE ROLE reader LOGIN SUPERUSER; ALTER ROLE reader SET default_transaction_read_only = on');
    const connection = fixture().server.urlOf('reader');
    const { replica: a, events } = fixture().begin({ connection, subscribes: false });
    const refused = saying('STORE_REFUSED_WRITE', 'or reset default_transaction_read_only of the role');
    for (let time = 0; time < 2; time++) await expect(a.sync({ renew: [A] })).rejects.toMatchObject(refused);
    expect(events).toEqual(['connected']);
  });

  it('whose commits are not written to the disk writes those of leases and records there', async () => {
    const a = await replica();
    const client = await fixture().client();
    await client.query('BEGIN; SET LOCAL synchronous_commit = off');
    await client.query("SELECT singleton_job.compare_and_set_1($1, '', 0, '{}', '{}', '{}', '{}')", [a.projectName]);
    expect((await client.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'local' }]);
    await client.end();
  });

  it('may change: a connection that is a function is read anew for each client', async () => {
    await fixture().sql('CREATE ROLE first LOGIN SUPERUSER; CREATE ROLE second LOGIN SUPERUSER');
    let role = 'first';
    const readConnection = () => Promise.resolve(fixture().server.urlOf(role));
    const opened = await fixture().connect({ projectName: newProject(), readConnection });
    role = 'second';
    await fixture().sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'first'");
    await until('both connections are of the new role', async () => {
      const roles = await fixture().sql("SELECT FROM pg_stat_activity WHERE usename = 'second'");
      return roles.length === 2 || undefined;
    });
    await isListening(opened);
  });
});

interface Unusable extends Partial<PostgresStoreOptions> {
  readonly role?: string;
  readonly database?: string;
}

describe('a store that cannot work says what to do', () => {
  it.each<[what: string, fix: string, store: Unusable, sql?: string]>([
    [
      'by a role that may not create the schema',
      'or GRANT CREATE ON DATABASE "postgres" TO "guest"',
      { role: 'guest', schema: newName() },
      'CREATE ROLE guest LOGIN',
    ],
    [
      'by a server older than 13',
      'needs PostgreSQL 13 or later',
      { role: 'late' },
      `CREATE SCHEMA old; CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '120019' $$;
      CREATE ROLE late LOGIN SUPERUSER; ALTER ROLE late SET search_path = old, pg_catalog`,
    ],
    [
      'by an event trigger that forbids DDL',
      'PostgreSQL answered with no DDL here (P0001). If the database forbids DDL, run the SQL of postgresMigrations()',
      { role: 'frozen', schema: newName() },
      `CREATE ROLE frozen LOGIN SUPERUSER; CREATE FUNCTION no_ddl() RETURNS event_trigger LANGUAGE plpgsql
      AS $$ BEGIN IF current_user = 'frozen' THEN RAISE EXCEPTION 'no DDL here'; END IF; END $$;
      CREATE EVENT TRIGGER no_ddl ON ddl_command_start EXECUTE FUNCTION no_ddl()`,
    ],
    ['by a missing role', 'Check user and password', { role: 'nobody' }],
    ['by a server without TLS', 'drop sslmode from the URL', { database: 'postgres?sslmode=prefer' }],
    ['by a missing database', 'Check the name of the database', { database: 'shop' }],
    ['by a missing schema', 'run the SQL of postgresMigrations() as its owner', { schema: newName(), migrate: false }],
    [
      'by a schema of the application that has such a table',
      'give the option schema one of its own',
      { schema: 'shop' },
      'CREATE SCHEMA shop; CREATE TABLE shop.leases (id int)',
    ],
  ])('%s', async (_what, fix, { role = 'postgres', database = 'postgres', ...options }, sql = '') => {
    await fixture().sql(sql);
    const connection = fixture()
      .server.urlOf(role)
      .replace(/postgres$/, database);
    const opened = fixture().begin({ connection, ...options });
    const error = saying('STORE_MISCONFIGURED', fix);
    await expect(opened.replica.sync({ grant: [A] })).rejects.toMatchObject(error);
    expect(opened.disconnected[0]).toMatchObject(error);
  });
});

describe('the schema', () => {
  it('is created once by ten replicas that start at the same time', async () => {
    const schema = newName();
    const opened = await Promise.all(Array.from({ length: 10 }, () => fixture().connect({ schema })));
    expect(opened.map(({ events }) => events)).toEqual(opened.map(() => ['connected', 'listening']));
  });

  it('is created again if it is dropped while replicas run', async () => {
    const schema = newName();
    const a = await replica({ schema });
    await fixture().sql(`DROP SCHEMA ${schema} CASCADE`);
    await expect(a.sync({ renew: [A] })).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    const { incarnation, leases } = await until('it is answered', () => a.sync({ renew: [A] }));
    expect([incarnation.isFirst, leases.size]).toEqual([false, 0]);
  });

  it('says what each table and column is, by comments that the printed SQL has too', async () => {
    await fixture().connect();
    const found = await fixture().sql(`SELECT relname AS name, obj_description(oid, 'pg_class') AS comment FROM pg_class
      WHERE relnamespace = 'singleton_job'::regnamespace AND relkind = 'r'
      UNION ALL SELECT relname || '.' || attname, col_description(attrelid, attnum) FROM pg_attribute JOIN pg_class c ON attrelid = c.oid
      WHERE relnamespace = 'singleton_job'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped`);
    expect(found.length).toBeGreaterThan(3);
    expect(found.filter(({ comment }) => !postgresMigrations().includes(`IS '${String(comment)}'`))).toEqual([]);
  });

  it('loses records that may be forgotten, as others are written', async () => {
    const a = await replica();
    await a.put('{}', undefined, { name: 'order-4711:lock', forgetAfterMs: 1 });
    await delay(5);
    await a.put();
    const rows = await fixture().sql('SELECT name FROM singleton_job.records WHERE project = $1', [a.projectName]);
    expect(rows).toEqual([{ name: NAME }]);
  });
});

describe('an application', () => {
  it('may have set parsers and options of `pg` for its whole process', async () => {
    const { BOOL, INT8, TEXT, JSON: JSON_TEXT, JSONB } = pg.types.builtins;
    const oids = [BOOL, INT8, TEXT, JSON_TEXT, JSONB];
    const before = oids.map((oid) => pg.types.getTypeParser(oid) as (value: string) => unknown);
    const { binary, query_timeout: timeout } = pg.defaults;
    try {
      for (const oid of oids) pg.types.setTypeParser(oid, () => 'parsed by the application');
      Object.assign(pg.defaults, { binary: true, query_timeout: 60_000 });
      const a = await replica();
      const record = await a.put('{"größe":1}');
      expect((await a.sync({ renew: [A], grant: [B], read: [NAME] })).records).toEqual([record]);
    } finally {
      oids.forEach((oid, i) => {
        pg.types.setTypeParser(oid, before[i] ?? String);
      });
      Object.assign(pg.defaults, { binary, query_timeout: timeout });
    }
  });

  it('that sends a notification to the channel of the hints does no harm', async () => {
    const projectName = newProject();
    const { replica: a } = await fixture().connect({ projectName });
    const hash = createHash('sha256').update(`singleton_job:${projectName}`).digest('hex');
    const channel = `singleton_job_${hash.slice(0, 32)}`;
    for (const payload of ['', 'VACUUM', '*']) await fixture().sql('SELECT pg_notify($1, $2)', [channel, payload]);
    await until('the last one', () => a.hints[2]);
    expect(a.hints).toEqual(['', 'VACUUM', '*']);
  });
});

describe('a pooler', () => {
  it.concurrent.each(['transaction', 'statement'] as const)(
    'in %s mode delivers no hints, which is said once, and all else works',
    async (mode) => {
      await using pooler = await Pgbouncer.start(fixture().server, mode);
      const opened = fixture().begin({ connection: pooler.url, projectName: newProject() });
      const { replica: a } = opened;
      await until('the pooler has started', () => a.sync({ isNewcomer: true, grant: [A] }));
      await a.put('2', await a.put());
      await until('it says so', () => opened.warnings.length > 0 || undefined);
      await opened.store.publish('*');
      await a.sync({ renew: [A] });
      expect(opened.warnings).toMatchObject([saying('HINTS_NOT_DELIVERED', 'a pooler in transaction mode')]);
      expect(opened.events.filter((event) => event.includes('listening'))).toEqual([]);
    },
  );
});

describe('a server with a certificate of its own authority', () => {
  const certificate = oneForAll(() => TlsCertificate.create());
  const secured = oneForAll(() => PostgresFixture.start(certificate().postgresArguments));

  beforeAll(async () => {
    // the role `app` needs TLS and its password, of which PostgreSQL 13 keeps an md5 by default
    await secured().sql(`SET password_encryption = 'scram-sha-256';
      CREATE ROLE app LOGIN SUPERUSER PASSWORD 'secret'; DO $$ BEGIN EXECUTE format(
      'COPY (VALUES (''host all postgres all trust''), (''hostssl all all all scram-sha-256'')) TO %L', current_setting('hba_file'));
      PERFORM pg_reload_conf(); END $$`);
  });

  const urlOfApp = () => secured().server.urlOf('app:secret');
  const refusal = async (connection: string) => {
    const refused = secured().begin({ connection });
    return until('it is refused', () => refused.disconnected.at(0));
  };

  it('is trusted by a URL with the file of the authority and by options with its text', async () => {
    const connections = [
      `${urlOfApp()}?sslmode=verify-full&sslrootcert=${certificate().file}`,
      { postgres: { connectionString: urlOfApp(), ssl: { ca: certificate().pem } } },
    ];
    for (const connection of connections) expect((await secured().connect({ connection })).disconnected).toEqual([]);
    const inUse = await secured().sql(
      "SELECT ssl FROM pg_stat_ssl NATURAL JOIN pg_stat_activity WHERE usename = 'app'",
    );
    expect(inUse).toEqual(Array.from({ length: 4 }, () => ({ ssl: true })));
  });

  it.each(['prefer', 'require', 'verify-full'])('is refused with the fix at sslmode=%s without it', async (mode) => {
    const fix = /self-signed certificate().*Pass the CA of the server: .*ssl: \{ ca: /;
    expect(await refusal(`${urlOfApp()}?sslmode=${mode}`)).toMatchObject(saying('STORE_MISCONFIGURED', fix));
  });

  it('and that wants TLS says so to a URL without', async () => {
    const fix = 'The server wants TLS: add ?sslmode=verify-full to the URL';
    expect(await refusal(urlOfApp())).toMatchObject(saying('STORE_MISCONFIGURED', fix));
  });

  it('connects with TLS and a password also at 450 ms for each of seven answers', async () => {
    await using proxy = await TcpProxy.start(secured().server.port);
    proxy.answerDelayMs = 450;
    const port = Number(new URL(proxy.url).port);
    const postgres = { host: '127.0.0.1', port, database: 'postgres', user: 'app', password: 'secret' };
    const connection = { postgres: { ...postgres, ssl: { ca: certificate().pem } } };
    const { events } = secured().begin({ connection, subscribes: false });
    await until('it is connected', () => events.includes('connected') || undefined);
  });
});

describe('a server', () => {
  it.concurrent('that is a standby is refused, and is another incarnation when it is promoted', async () => {
    await using primary = await PostgresFixture.start();
    const { replica: a } = primary.begin();
    const { incarnation: before } = await a.sync({ isNewcomer: true, grant: [A] });
    const record = await a.put();
    await using standby = await primary.server.standby();
    const { replica: b } = primary.begin({ connection: standby.url });
    await expect(b.sync()).rejects.toThrow('connect to the primary');
    await standby.promote();
    const { incarnation, records } = await until('it is answered', () => b.sync({ renew: [A], read: [NAME] }));
    expect([incarnation.id === before.id, incarnation.isFirst, records]).toEqual([false, false, [record]]);
  });

  it.concurrent('with no connection left says so', async () => {
    const limits = ['max_connections=4', 'superuser_reserved_connections=0'];
    await using own = await PostgresFixture.start(limits.flatMap((limit) => ['-c', limit]));
    const clients = await Promise.all(Array.from({ length: 4 }, () => own.client()));
    const opened = own.begin();
    const { replica: a } = opened;
    const fix = 'or use fewer: a process needs two, and three with';
    await expect(a.sync()).rejects.toMatchObject(saying('STORE_REFUSED_WRITE', fix));
    await clients.pop()?.end();
    await until('it says that it gets no hints', () => opened.warnings.length > 0 || undefined);
    expect(opened.warnings).toMatchObject([saying('HINTS_NOT_DELIVERED', fix)]);
    await a.sync({ isNewcomer: true, grant: [A] });
    await Promise.all(clients.map((client) => client.end()));
    await isListening(opened);
  });

  it('that ends the connection for hints costs no request', async () => {
    const projectName = newProject();
    const opened = await fixture().connect({ projectName });
    await fixture().sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'");
    await until('it notices', () => opened.events.includes('not listening') || undefined);
    await opened.replica.sync({ isNewcomer: true, grant: [A] });
    await isListening(opened);
    expect(opened.events).toEqual(['connected', 'listening', 'not listening', 'listening']);
  });
});
