import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { type RedisLockStore } from '../../libs/singleton-job/src/store/redis/redis-lock-store.js';
import {
  acquireRequest,
  eventually,
  granted,
  heartbeat,
  kept,
  LONG_MS,
  sessionOfReplica,
} from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { documentedRights } from '../support/documented-rights.js';
import { type OpenStore, RedisFixture } from './redis-fixture.js';

const renewal = { name: 'price-tick', holder: 'a#1', lifeMs: LONG_MS, update: {} };
const release = { name: 'price-tick', holder: 'a#1', token: 1, update: {} };

/** What a message says if a right is missing. For a command inside a script Redis does not name it. */
const NAMED: Readonly<Record<string, string>> = {
  '~myapp:*': "'acquire' for 'myapp:price-tick:lock'",
  '~{myapp:*': "'heartbeat' for '{myapp:sessions}'",
  '&myapp:events': "for 'myapp:events'",
  '+@read': "can't run this command",
  '+@write': "can't run this command",
  '+@scripting': "'evalsha' command",
  '+subscribe': "'subscribe' command",
  '+publish': "'publish' with",
  '+time': "can't run this command",
};

describe('what Redis permits', () => {
  const [rights = ''] = documentedRights('myapp');
  let fixture: RedisFixture;

  beforeAll(async () => {
    fixture = await RedisFixture.start();
  });

  afterAll(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  const user = async (name: string, ...rules: string[]): Promise<{ url: string }> => {
    await fixture.raw.call('ACL', 'SETUSER', name, 'on', `>secret`, ...rules);
    return { url: `redis://${name}:secret@127.0.0.1:${String(fixture.server.port)}` };
  };
  /** The error of a store that cannot connect, once it knows the reason. */
  const reason = (store: RedisLockStore, word: string): Promise<unknown> =>
    eventually(`the store reports ${word}`, () =>
      store.acquire(acquireRequest('a#1')).then(
        () => undefined,
        (error: unknown) => (String(error).includes(word) ? error : undefined),
      ),
    );

  /** Everything that a store sends, and every error that came of it. */
  const errorsOf = async ({ store, messagesDenied }: OpenStore): Promise<string[]> => {
    const errors: unknown[] = [];
    const note = (error: unknown) => errors.push(error);
    await heartbeat(store, [sessionOfReplica('a')]).catch(note);
    const grant = await store.acquire(acquireRequest('a#1')).catch(note);
    if (typeof grant === 'object') await store.release({ ...release, token: grant.token }).catch(note);
    await eventually(
      'the subscription is answered',
      () => store.isSubscribed || messagesDenied.length > 0 || undefined,
    );
    return [...errors, ...messagesDenied].map(String);
  };

  it('is the same on each line of the guide, also when a shell reads it', () => {
    expect([...documentedRights('myapp')]).toEqual([
      expect.stringContaining('~myapp:* ~{myapp:* &myapp:events +@read'),
    ]);
  });

  it('is told by the whole line of rights, and by what the missing right is for', async () => {
    for (const right of rights.split(' ').filter((one) => !one.startsWith('-'))) {
      const others = rights.split(' ').filter((one) => one !== right);
      const { url } = await user('lacking', 'reset', 'on', '>secret', 'resetchannels', ...others);
      const warnings = jest.spyOn(console, 'warn').mockImplementation(() => {});
      const opened = fixture.begin({ connection: url });
      const errors = await errorsOf(opened);
      warnings.mockRestore();
      await opened.store.close();
      await fixture.raw.flushall();
      if (right === '+info')
        expect([errors, opened.warnings]).toEqual([[], expect.arrayContaining(['RESTARTS_HIDDEN'])]);
      else
        expect([right, errors.join(' ')]).toEqual([right, expect.stringContaining(NAMED[right] ?? 'a row of NAMED')]);
      for (const error of errors) expect(error).toContain(`The ACL of the user needs: ${rights}`);
    }
  });

  it('is enough with the rights that the documentation names', async () => {
    const { url } = await user('own', 'resetchannels', '-@all', ...rights.split(' '));
    const { store, events, messagesDenied } = await fixture.connect({ connection: url });
    const session = sessionOfReplica('a');
    const reference = await heartbeat(store, [session]);
    const { token, storeTime } = await granted(
      store,
      acquireRequest('a#1', { heartbeat: reference, stateLifeMs: 900_000 }),
    );
    expect(await store.renew(renewal)).toMatchObject({ held: true });
    expect(await store.claim({ ...renewal, token, scheduledAt: storeTime + 5 })).toMatchObject({ outcome: 'claimed' });
    expect(await store.release(release)).toMatchObject({ released: true });
    expect(await store.setPaused({ name: 'price-tick', isPaused: true })).toMatchObject({ holder: undefined });
    expect(await store.setPaused({ name: 'price-tick', isPaused: false })).toMatchObject({ pausedAt: undefined });
    await store.publish({ kind: 'granted', locks: [] });
    await store.endSession(session);
    expect(messagesDenied).toEqual([]);
    expect(events).toEqual(['connected', 'subscribed']);
  });

  it('without INFO is enough: restarts are hidden, which is reported once', async () => {
    const logged = jest.spyOn(console, 'warn').mockImplementation(() => {});
    const { url } = await user('blind', '~*', '&*', '+@all', '-info');
    const { store, events, warnings } = await fixture.connect({ connection: url, projectName: 'blind' });
    const session = sessionOfReplica('a');
    const first = await heartbeat(store, [session]);
    expect(first).toMatchObject({ serverId: undefined, serverSince: 0, isWholeList: true, listedCount: 1 });
    const second = await heartbeat(store, [session, sessionOfReplica('a', { id: 'a.2@600000' })], first);
    expect(second.version).toBeGreaterThan(first.version);
    expect(await heartbeat(store, [session], second)).toMatchObject({ isWholeList: false, version: second.version });
    expect(events).toEqual(['connected', 'subscribed']);
    expect(warnings).toEqual(['RESTARTS_HIDDEN']);

    await fixture.raw.hset('{blind:sessions}:server', 'runId', 'of another server', 'since', '5');
    await granted(store, acquireRequest('a#1', { name: 'blind', heartbeat: second }));
    expect(await heartbeat(store, [])).toMatchObject({ serverId: undefined, serverSince: 0, version: second.version });
    expect(await fixture.raw.hmget('{blind:sessions}:server', 'runId', 'since')).toEqual(['of another server', '5']);

    await fixture.raw.flushall();
    const after = await heartbeat(store, [{ ...session, confirmedEnd: first.sessions[0]?.end }], second);
    expect(after.sessions).toMatchObject([{ status: 'listed-again' }]);
    expect(after.version).not.toBe(second.version);
    logged.mockRestore();
  });

  it('is awaited by a request that is sent before the first connection is ready', async () => {
    const { store } = fixture.begin();
    expect(await store.acquire(acquireRequest('early#1', { name: 'early' }))).toMatchObject({ granted: true });
  });

  it('without the channel is enough: locks are released without a message', async () => {
    const { url } = await user('mute', '~*', 'resetchannels', '+@all');
    const { store, events, messagesDenied } = fixture.begin({ connection: url });
    await eventually('the store is connected', () => events.includes('connected') || undefined);
    await eventually('the store reports the denied channel', () => messagesDenied.length > 0 || undefined);
    expect(messagesDenied[0]).toMatchObject({
      code: 'STORE_MISCONFIGURED',
      message: expect.stringMatching(/^Redis answered 'subscribe' for 'myapp:events' with NOPERM/),
    });
    messagesDenied.length = 0;
    await granted(store, acquireRequest('a#1'));
    expect(await store.release(release)).toMatchObject({ released: true });
    expect(messagesDenied.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Redis answered 'publish' .*(NOPERM|can't)/),
    );
    const message = { kind: 'granted', locks: [] } as const;
    await expect(store.publish(message)).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    expect(store.isSubscribed).toBe(false);
    await user('mute', '&myapp:events');
    await eventually('the store is subscribed once it may', () => store.isSubscribed || undefined);
    await store.publish(message);
  });

  it('without the keys fails with STORE_MISCONFIGURED', async () => {
    const { url } = await user('stranger', '~other:*', '&*', '+@all');
    const { store } = await fixture.connect({ connection: url });
    await expect(store.acquire(acquireRequest('a#1'))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    await expect(heartbeat(store, [])).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
  });

  it('without scripts fails with STORE_MISCONFIGURED', async () => {
    const { url } = await user('plain', '~*', '&*', '+@all', '-@scripting');
    const { store } = await fixture.connect({ connection: url });
    await expect(kept(store, sessionOfReplica('a'))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
  });

  it('with a wrong password fails, and the error says so', async () => {
    const connection = `redis://own:wrong@127.0.0.1:${String(fixture.server.port)}`;
    const { store, disconnected } = fixture.begin({ connection });
    expect(await reason(store, 'WRONGPASS')).toMatchObject({ code: 'STORE_MISCONFIGURED', wasSent: false });
    expect(disconnected).toMatchObject([
      { code: 'STORE_MISCONFIGURED', message: expect.stringContaining('WRONGPASS') },
    ]);
  });

  it('to a database that does not exist fails, and no other database is used', async () => {
    const { store, events } = fixture.begin({ connection: `${fixture.server.url}/99` });
    expect(await reason(store, 'out of range')).toMatchObject({ code: 'STORE_MISCONFIGURED' });
    expect(events).toEqual(['disconnected']);
  });

  it('works once the password is right', async () => {
    const { store, events } = fixture.begin({
      connection: `redis://late:secret@127.0.0.1:${String(fixture.server.port)}`,
    });
    await reason(store, 'WRONGPASS');
    await user('late', '~*', '&*', '+@all');
    await eventually('the store is connected', () => events.includes('connected') || undefined);
    await granted(store, acquireRequest('a#1', { name: 'late' }));
  });

  it('without a required password fails until no password is required', async () => {
    await fixture.raw.config('SET', 'requirepass', 'secret');
    const { store, events } = fixture.begin();
    expect(await reason(store, 'NOAUTH')).toMatchObject({ code: 'STORE_MISCONFIGURED' });
    await fixture.raw.config('SET', 'requirepass', '');
    await eventually('the store is connected', () => events.includes('connected') || undefined);
  });
});

describe('a connection may be given as', () => {
  let fixture: RedisFixture;

  beforeAll(async () => {
    fixture = await RedisFixture.start();
  });

  afterAll(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  it('a URL with a database', async () => {
    const { store } = await fixture.connect({ connection: `${fixture.server.url}/2` });
    await granted(store, acquireRequest('a#1'));
    await fixture.raw.select(2);
    expect(await fixture.raw.exists('myapp:price-tick:lock')).toBe(1);
    await fixture.raw.select(0);
  });

  it('options, whose settings for queues and retries are ignored', async () => {
    const connection = {
      host: '127.0.0.1',
      port: fixture.server.port,
      enableOfflineQueue: true,
      autoResendUnfulfilledCommands: true,
      maxRetriesPerRequest: null,
      enableAutoPipelining: true,
      stringNumbers: true,
      readOnly: true,
      db: 3,
    };
    const { store } = await fixture.connect({ connection: Object.freeze(connection) });
    await granted(store, acquireRequest('a#1'));
  });

  it('a client, which is not used itself and not closed', async () => {
    const client = new Redis(fixture.server.url, { lazyConnect: true, db: 4 });
    const { store } = await fixture.connect({ connection: client });
    await granted(store, acquireRequest('a#1'));
    await store.close();
    expect(client.status).toBe('wait');
    expect(await client.exists('myapp:price-tick:lock')).toBe(1);
    client.disconnect();
  });
});
