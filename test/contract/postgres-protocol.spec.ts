import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type StoreMessage } from '../../libs/singleton-job/src/store/lock-store.js';
import { grantSql } from '../../libs/singleton-job/src/store/postgres/postgres-schema.js';
import {
  acquireRequest,
  eventually,
  granted,
  heartbeat,
  LONG_MS,
  sessionOfReplica,
} from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { PostgresFixture } from './postgres-fixture.js';

let fixture: PostgresFixture;

beforeAll(async () => {
  fixture = await PostgresFixture.start();
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

const project = () => `p-${randomUUID()}`;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs `sql` in a transaction, then `meanwhile`, then commits. */
async function during<T>(sql: string, meanwhile: () => Promise<T>): Promise<T> {
  const client = await fixture.client();
  try {
    await client.query('BEGIN');
    await client.query(sql);
    const result = meanwhile();
    result.catch(() => undefined);
    await pause(300);
    await client.query('COMMIT');
    return await result;
  } finally {
    await client.end();
  }
}

describe('a step that waits for a row', () => {
  it('reads the clock after the wait: the session gets its full life', async () => {
    const projectName = project();
    const { store } = await fixture.connect({ projectName });
    const session = sessionOfReplica('a');
    await heartbeat(store, [session]);
    const startedAt = Date.now();
    const row = `SELECT FROM singleton_job.sessions WHERE project = '${projectName}' FOR UPDATE`;
    const { sessions } = await during(row, () => heartbeat(store, [session]));
    expect(Number(sessions[0]?.end) - LONG_MS - startedAt).toBeGreaterThanOrEqual(250);
  });

  it('sees the mark that it waited for', async () => {
    const projectName = project();
    const { store } = await fixture.connect({ projectName });
    const session = sessionOfReplica('a');
    await heartbeat(store, [session]);
    const mark = `UPDATE singleton_job.sessions SET ended = true WHERE project = '${projectName}'`;
    const { sessions } = await during(mark, () => heartbeat(store, [session]));
    expect(sessions).toMatchObject([{ status: 'ended' }]);
  });

  it('on a lock that somebody else has locked is unknown, and holds up neither heartbeats nor other locks', async () => {
    const projectName = project();
    const { store } = await fixture.connect({ projectName });
    for (const name of ['ant', 'bee']) await granted(store, acquireRequest('a#1', { name }));
    const renew = (name: string) => store.renew({ name, holder: 'a#1', lifeMs: LONG_MS, update: { slot: 1 } });
    const row = `SELECT FROM singleton_job.locks WHERE project = '${projectName}' AND name = 'ant' FOR UPDATE`;
    const [ant, bee] = await during(row, async () => {
      const answers = await Promise.allSettled([renew('ant'), renew('bee')]);
      await heartbeat(store, [sessionOfReplica('a')]);
      return answers;
    });
    expect(bee).toMatchObject({ status: 'fulfilled', value: { held: true } });
    expect(ant).toMatchObject({ status: 'rejected', reason: { code: 'STORE_UNREACHABLE' } });
    expect(await renew('ant')).toMatchObject({ held: true });
  });
});

describe('the list of sessions', () => {
  it('is read while somebody has locked the row of a session that is over', async () => {
    const projectName = project();
    const { store } = await fixture.connect({ projectName });
    const [dead, alive] = [sessionOfReplica('a', { lockExpiryMs: 20 }), sessionOfReplica('b')];
    const before = await heartbeat(store, [dead]);
    await pause(50);
    const row = `SELECT FROM singleton_job.sessions WHERE project = '${projectName}' AND id = '${dead.id}' FOR UPDATE`;
    const meanwhile = await during(row, () => heartbeat(store, [alive], before));
    expect(meanwhile.changes.get(dead.id)?.hasEnded).not.toBe(true);
    expect((await heartbeat(store, [alive], meanwhile)).changes.get(dead.id)).toMatchObject({ hasEnded: true });
  });

  it('misses no change of a transaction that commits late', async () => {
    const projectName = project();
    const { store } = await fixture.connect({ projectName });
    const [a, b, c] = [sessionOfReplica('a'), sessionOfReplica('b'), sessionOfReplica('c')];
    let last = await heartbeat(store, [a, b, c]);
    const late = `SELECT singleton_job.end_session_1('${projectName}', '${a.id}', NULL)`;
    const ended = new Set<string>();
    const look = async (): Promise<void> => {
      last = await heartbeat(store, [c], last);
      for (const [id, { hasEnded }] of last.changes) if (hasEnded) ended.add(id);
    };
    const { store: other } = await fixture.connect({ projectName });
    await during(late, async () => {
      const second = other.endSession({ ...b, confirmedEnd: undefined });
      await look();
      await second;
      await look();
    });
    await look();
    expect([...ended].toSorted()).toEqual([a.id, b.id]);
  });
});

describe('batches', () => {
  it('of two replicas in opposite orders end in no deadlock', async () => {
    const projectName = project();
    // a deadlock is found before the time for a locked row is over, so that a busy machine does not look like one
    await fixture.sql("ALTER DATABASE postgres SET deadlock_timeout = '10ms'");
    const stores = [(await fixture.connect({ projectName })).store, (await fixture.connect({ projectName })).store];
    const names = Array.from({ length: 50 }, (_, n) => `job-${String(n)}`);
    for (let round = 0; round < 20; round++) {
      const requests = stores.flatMap((store, n) =>
        (n === 0 ? names : names.toReversed()).map((name) =>
          store.acquire(acquireRequest(`${n === 0 ? 'a' : 'b'}#1`, { name, lifeMs: 1 })),
        ),
      );
      for (const request of await Promise.allSettled(requests))
        if (request.status === 'rejected')
          expect(String(request.reason)).toContain('another transaction has locked its row');
    }
  });

  it('write nothing for renewals that have no news', async () => {
    const projectName = project();
    const { store } = await fixture.connect({ projectName });
    const session = sessionOfReplica('a');
    await heartbeat(store, [session]);
    const holder = `${session.id}#1`;
    await granted(store, acquireRequest(holder));
    const version = () => fixture.sql('SELECT ctid, xmin FROM singleton_job.locks WHERE project = $1', [projectName]);
    const before = await version();
    const renewed = await store.renew({ name: 'price-tick', holder, lifeMs: 35_000, update: {} });
    expect([renewed.held, await version()]).toEqual([true, before]);
    await store.renew({ name: 'price-tick', holder, lifeMs: 35_000, update: { slot: 1 } });
    expect(await version()).not.toEqual(before);
  });
});

describe('a message', () => {
  it('about many locks arrives in parts', async () => {
    const { store } = await fixture.connect({ projectName: project() });
    const received: StoreMessage[] = [];
    store.addListener({ message: (message) => received.push(message) });
    const locks = Array.from({ length: 500 }, (_, n) => ({
      name: `job-${String(n)}`,
      holder: 'a.1@10000#1',
      token: n,
    }));
    await store.publish({ kind: 'granted', locks });
    const names = () => received.flatMap((message) => ('locks' in message ? message.locks : []));
    await eventually('all have arrived', () => names().length === locks.length || undefined);
    expect(names()).toEqual(locks);
  });
});

describe('the schema', () => {
  it('is created once by ten replicas that start at the same time', async () => {
    const schema = `s${randomUUID().replaceAll('-', '')}`;
    await Promise.all(Array.from({ length: 10 }, () => fixture.connect({ schema, subscribes: true })));
    expect(await fixture.sql(`SELECT number FROM ${schema}.migrations`)).toEqual([{ number: 1 }]);
  });

  it('is missed with migrate: false, and the error says what to run', async () => {
    const opened = fixture.begin({ schema: 'missing', migrate: false });
    await expect(heartbeat(opened.store, [])).rejects.toMatchObject({
      code: 'STORE_MISCONFIGURED',
      message: expect.stringContaining('run the SQL of postgresMigrations()') as unknown,
    });
    expect(opened.disconnected).toHaveLength(1);
  });
});

describe('a role', () => {
  it('with the documented rights is enough, and without them the error has the lines that grant them', async () => {
    const { store: owner } = await fixture.connect();
    await heartbeat(owner, []);
    await fixture.sql('CREATE ROLE app LOGIN');
    const options = { connection: fixture.server.urlOf('app'), projectName: project() };
    const denied = fixture.begin(options);
    const grants = grantSql('singleton_job', 'app');
    await expect(heartbeat(denied.store, [])).rejects.toMatchObject({
      code: 'STORE_MISCONFIGURED',
      message: expect.stringContaining(grants) as unknown,
    });
    await fixture.sql(grants);
    const { store } = await fixture.connect({ ...options, migrate: false });
    const session = sessionOfReplica('a');
    const reference = await heartbeat(store, [session]);
    const { token } = await granted(store, acquireRequest(`${session.id}#1`, { heartbeat: reference }));
    await store.setPaused({ name: 'price-tick', isPaused: true });
    await store.release({ name: 'price-tick', holder: `${session.id}#1`, token, update: {} });
    await store.endSession({ ...session, confirmedEnd: undefined });
  });

  it.each([
    ['default_transaction_read_only = on', 'STORE_REFUSED_WRITE', 'Connect to the primary'],
    ["default_transaction_isolation = 'serializable'", 'STORE_MISCONFIGURED', "= 'read committed'"],
  ])('with %s is refused with the fix, and stays connected', async (setting, code, fix) => {
    const role = `r${randomUUID().slice(0, 8)}`;
    await fixture.sql(`CREATE ROLE ${role} LOGIN SUPERUSER; ALTER ROLE ${role} SET ${setting}`);
    const { store, disconnected } = fixture.begin({ connection: fixture.server.urlOf(role), subscribes: false });
    const message = expect.stringContaining(fix) as unknown;
    await expect(heartbeat(store, [sessionOfReplica('a')])).rejects.toMatchObject({ code, message });
    expect(disconnected).toEqual([]);
  });

  it('that meets a server older than 13 is told so', async () => {
    await fixture.sql(`CREATE SCHEMA old; CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '120019' $$;
      CREATE ROLE late LOGIN SUPERUSER; ALTER ROLE late SET search_path = old, pg_catalog`);
    const { store } = fixture.begin({ connection: fixture.server.urlOf('late') });
    const message = expect.stringContaining('needs PostgreSQL 13 or later') as unknown;
    await expect(heartbeat(store, [])).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED', message });
  });

  it.each([
    ['that does not exist', (url: string) => url.replace('postgres@', 'nobody@'), 'Check user and password'],
    ['for a missing database', (url: string) => url.replace(/postgres$/, 'shop'), 'Check the name of the database'],
  ])('%s gets an error with the fix', async (_what, urlOf, fix) => {
    const { store } = fixture.begin({ connection: urlOf(fixture.server.url) });
    const message = expect.stringContaining(fix) as unknown;
    await expect(heartbeat(store, [])).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED', message });
  });
});

describe('a connection that is a function', () => {
  it('is read anew for each client', async () => {
    await fixture.sql('CREATE ROLE first LOGIN SUPERUSER; CREATE ROLE second LOGIN SUPERUSER');
    let role = 'first';
    const readConnection = () => Promise.resolve(fixture.server.urlOf(role));
    const { store, events } = await fixture.connect({ projectName: project(), readConnection });
    role = 'second';
    events.length = 0;
    await fixture.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'first'");
    await fixture.isConnected({ store, events, disconnected: [], warnings: [] });
    await eventually('all three are of the new role', async () => {
      const roles = await fixture.sql("SELECT FROM pg_stat_activity WHERE usename = 'second'");
      return roles.length === 3 || undefined;
    });
  });
});

describe('a server', () => {
  it('that hangs costs the open requests, and answers again when it goes on', async () => {
    await using own = await PostgresFixture.start();
    const { store, events } = await own.connect();
    await own.server.pause();
    const hanging = heartbeat(store, []);
    await expect(hanging).rejects.toMatchObject({ code: 'STORE_UNREACHABLE', wasSent: true });
    expect(events).toContain('disconnected');
    await own.server.resume();
    await eventually('it answers', () => heartbeat(store, []).catch(() => undefined));
  });

  it('that waits for a synchronous standby keeps no process of a connection that was closed for its silence', async () => {
    await using own = await PostgresFixture.start();
    const { store, events } = own.begin({ subscribes: false });
    await eventually('it is connected', () => events.includes('connected') || undefined);
    await own.sql("ALTER SYSTEM SET synchronous_standby_names = 'gone'");
    await own.sql('SELECT pg_reload_conf()');
    const waiting = () => own.sql("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    const isConfirmed = await eventually('the setting is in force', async () => {
      const answer = heartbeat(store, [sessionOfReplica('a')]).then(
        () => undefined,
        () => false,
      );
      return answer;
    });
    expect(isConfirmed).toBe(false);
    await eventually('it is gone', async () => (await waiting()).length === 0 || undefined);
  });

  it('that was killed is another server when it is back, with all that it confirmed', async () => {
    await using own = await PostgresFixture.start();
    const { store, events } = await own.connect();
    const before = await heartbeat(store, [sessionOfReplica('a')]);
    await granted(store, acquireRequest('a#1'));
    await own.server.kill();
    await eventually('the loss is noticed', () => events.includes('disconnected') || undefined);
    await expect(heartbeat(store, [])).rejects.toMatchObject({ wasSent: false });
    await own.server.up();
    const after = await eventually('it answers', () => heartbeat(store, []).catch(() => undefined));
    expect(after.serverId).not.toBe(before.serverId);
    expect(after.serverSince).toBeGreaterThan(before.serverSince);
    expect(after.listedCount).toBe(1);
    expect(await store.acquire(acquireRequest('b#1'))).toMatchObject({ reason: 'held', holder: 'a#1' });
  });

  it('with no connection left says so', async () => {
    await using own = await PostgresFixture.start([
      '-c',
      'max_connections=4',
      '-c',
      'superuser_reserved_connections=0',
    ]);
    const clients = await Promise.all(Array.from({ length: 4 }, () => own.client()));
    const { store } = own.begin();
    await expect(heartbeat(store, [])).rejects.toMatchObject({
      code: 'STORE_REFUSED_WRITE',
      message: expect.stringContaining('Raise max_connections') as unknown,
    });
    await Promise.all(clients.map((client) => client.end()));
    await eventually('it connects', () => heartbeat(store, []).catch(() => undefined));
  });
});
