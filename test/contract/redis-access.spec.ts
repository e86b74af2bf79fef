import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type RedisLockStore } from '../../libs/singleton-job/src/store/index.js';
import { bidOf, eventually, granted, LONG_MS } from './lock-store-world.js';
import { RedisFixture } from './redis-fixture.js';

const renewal = { name: 'price-tick', holder: 'a#1', lockExpiryMs: LONG_MS, progress: {} };

describe('what Redis permits', () => {
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
  /** The code and words of a store that cannot connect, once it knows why. */
  const reason = (store: RedisLockStore, word: string): Promise<unknown> =>
    eventually(`the store says ${word}`, () =>
      store.acquire(bidOf('a#1')).then(
        () => undefined,
        (error: unknown) => (String(error).includes(word) ? error : undefined),
      ),
    );

  it('is enough with the keys and the channel of the project alone', async () => {
    const { url } = await user('own', '~myapp:*', '~{myapp:*', '&myapp:released', '+@all');
    const { store } = await fixture.connect({ connection: url });
    const { token, time } = await granted(store, bidOf('a#1'));
    expect(await store.renew(renewal)).toMatchObject({ held: true });
    expect(await store.claim({ ...renewal, token, scheduledAt: time + 5 })).toMatchObject({ outcome: 'claimed' });
    expect(await store.release({ ...renewal, quietly: false })).toMatchObject({ released: true });
    await store.announce('a', ['price-tick']);
  });

  it('is asked for by commands that are sent before the first connection stands', async () => {
    const { store } = fixture.begin();
    expect(await store.acquire(bidOf('early#1', { name: 'early' }))).toMatchObject({ granted: true });
  });

  it('without the channel, releases all the same and tells nobody', async () => {
    const { url } = await user('mute', '~*', 'resetchannels', '+@all');
    const { store, told, refused } = fixture.begin({ connection: url });
    await eventually('the store is reachable', () => told.includes('reachable') || undefined);
    await eventually('the store says that it hears nothing', () => refused.length > 0 || undefined);
    expect(refused[0]).toMatchObject({
      code: 'STORE_MISCONFIGURED',
      message: expect.stringMatching(/^Redis refused to subscribe to 'myapp:released': NOPERM/),
    });
    refused.length = 0;
    await granted(store, bidOf('a#1'));
    expect(await store.release({ ...renewal, quietly: false })).toMatchObject({ released: true });
    expect(refused.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Redis refused to publish to 'myapp:released': .*(NOPERM|can't)/),
    );
    await expect(store.announce('a', ['price-tick'])).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    expect(store.hearsReleases).toBe(false);
    await user('mute', '&myapp:released');
    await eventually('the store hears releases once it may', () => store.hearsReleases || undefined);
    await store.announce('a', ['price-tick']);
  });

  it('without the keys, is nothing: the store says that it is misconfigured', async () => {
    const { url } = await user('stranger', '~other:*', '&*', '+@all');
    const { store } = await fixture.connect({ connection: url });
    await expect(store.acquire(bidOf('a#1'))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
  });

  it('without scripts, is nothing: the store says that it is misconfigured', async () => {
    const { url } = await user('plain', '~*', '&*', '+@all', '-@scripting');
    const { store } = await fixture.connect({ connection: url });
    await expect(store.acquire(bidOf('a#1'))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
  });

  it('is nothing with a wrong password, and the commands say so', async () => {
    const { store } = fixture.begin({ connection: `redis://own:wrong@127.0.0.1:${String(fixture.server.port)}` });
    expect(await reason(store, 'WRONGPASS')).toMatchObject({ code: 'STORE_MISCONFIGURED' });
  });

  it('is nothing in a database that does not exist, and no other is taken instead', async () => {
    const { store, told } = fixture.begin({ connection: `${fixture.server.url}/99` });
    expect(await reason(store, 'out of range')).toMatchObject({ code: 'STORE_MISCONFIGURED' });
    expect(told).not.toContain('reachable');
  });

  it('is all again once the password is set right', async () => {
    const { store, told } = fixture.begin({
      connection: `redis://late:secret@127.0.0.1:${String(fixture.server.port)}`,
    });
    await reason(store, 'WRONGPASS');
    await user('late', '~*', '&*', '+@all');
    await eventually('the store is reachable', () => told.includes('reachable') || undefined);
    await granted(store, bidOf('a#1', { name: 'late' }));
  });

  it('is nothing without a password where one is needed, until it is not', async () => {
    await fixture.raw.config('SET', 'requirepass', 'secret');
    const { store, told } = fixture.begin();
    expect(await reason(store, 'NOAUTH')).toMatchObject({ code: 'STORE_MISCONFIGURED' });
    await fixture.raw.config('SET', 'requirepass', '');
    await eventually('the store is reachable', () => told.includes('reachable') || undefined);
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
    await granted(store, bidOf('a#1'));
    await fixture.raw.select(2);
    expect(await fixture.raw.exists('myapp:price-tick:lock')).toBe(1);
    await fixture.raw.select(0);
  });

  it('options, whose own ideas of queues and retries do not count', async () => {
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
    await granted(store, bidOf('a#1'));
  });

  it('a client, which is neither used nor closed', async () => {
    const client = new Redis(fixture.server.url, { lazyConnect: true, db: 4 });
    const { store } = await fixture.connect({ connection: client });
    await granted(store, bidOf('a#1'));
    await store.close();
    expect(client.status).toBe('wait');
    expect(await client.exists('myapp:price-tick:lock')).toBe(1);
    client.disconnect();
  });
});
