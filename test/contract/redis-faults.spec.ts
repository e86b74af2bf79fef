import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { type RedisLockStore } from '../../libs/singleton-job/src/store/redis/redis-lock-store.js';
import {
  acquireRequest,
  eventually,
  granted,
  heartbeat,
  LONG_MS,
  sessionOfReplica,
} from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { TcpProxy } from '../../tools/replicas/tcp-proxy.js';
import { type OpenStore, RedisFixture } from './redis-fixture.js';

/** How long the watchdog lets a connection be silent. */
const SILENCE_MS = 1_500;
const UNREACHABLE = { code: 'STORE_UNREACHABLE' };
const renewal = { name: 'price-tick', holder: 'a#1', lifeMs: LONG_MS, update: {} };

describe('a store whose Redis fails', () => {
  let fixture: RedisFixture;

  beforeEach(async () => {
    fixture = await RedisFixture.start();
  });

  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  const commandConnection = async (): Promise<string | undefined> =>
    (await fixture.connections()).find(({ isSubscriber }) => !isSubscriber)?.id;
  const reports = async ({ events }: OpenStore, event: string, times: number): Promise<void> => {
    await eventually(
      `'${event}' is reported`,
      () => events.filter((one) => one === event).length >= times || undefined,
    );
  };
  /** Resolves when a renewal is rejected for this reason. */
  const failsWith = (store: RedisLockStore, word: string): Promise<unknown> =>
    eventually(`a renewal fails with ${word}`, () =>
      store.renew(renewal).then(
        () => undefined,
        (error: unknown) => (String(error).includes(word) ? error : undefined),
      ),
    );

  it('rejects at once while the server is down, and works again when it is back', async () => {
    const opened = await fixture.connect();
    const { store, events, disconnected } = opened;
    await granted(store, acquireRequest('a#1'));
    await fixture.server.kill();
    await expect(store.renew(renewal)).rejects.toMatchObject(UNREACHABLE);
    await reports(opened, 'disconnected', 1);
    await reports(opened, 'unsubscribed', 1);
    expect(store.isSubscribed).toBe(false);
    expect(await failsWith(store, 'ECONNREFUSED')).toMatchObject({ wasSent: false });
    await delay(1_000);
    expect(disconnected).toMatchObject([UNREACHABLE]);
    await fixture.server.up();
    await reports(opened, 'connected', 2);
    await reports(opened, 'subscribed', 2);
    expect(events.filter((event) => event.endsWith('connected'))).toEqual(['connected', 'disconnected', 'connected']);
    // the data are gone, and the store does not hide it
    expect(await store.renew(renewal)).toMatchObject({ held: false, holder: undefined });
  });

  it('reports each outage', async () => {
    const opened = await fixture.connect();
    for (const times of [1, 2]) {
      await fixture.server.kill();
      await reports(opened, 'disconnected', times);
      await fixture.server.up();
      await reports(opened, 'connected', times + 1);
    }
    expect(opened.disconnected).toHaveLength(2);
  });

  it('starts without a server, and connects when there is one', async () => {
    await fixture.server.kill();
    const opened = fixture.begin();
    await expect(opened.store.acquire(acquireRequest('a#1'))).rejects.toMatchObject({ ...UNREACHABLE, wasSent: false });
    expect(opened.events).toEqual(['disconnected']);
    expect(opened.disconnected[0]?.message).toContain('ECONNREFUSED');
    expect(opened.store.isSubscribed).toBe(false);
    await fixture.server.up();
    await reports(opened, 'connected', 1);
    await reports(opened, 'subscribed', 1);
    await granted(opened.store, acquireRequest('a#1'));
  });

  it('closes a connection on which nothing arrives, and has a new one once the server continues', async () => {
    const opened = await fixture.connect();
    const { store, disconnected } = opened;
    await granted(store, acquireRequest('a#1'));
    const before = await commandConnection();
    await fixture.server.pause();
    const sentAt = performance.now();
    await expect(store.renew(renewal)).rejects.toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining('no answer within 1.5 s'),
      wasSent: true,
    });
    expect(performance.now() - sentAt).toBeGreaterThan(SILENCE_MS - 50);
    await reports(opened, 'disconnected', 1);
    await expect(store.renew(renewal)).rejects.toMatchObject({ wasSent: false });
    // the subscriber was pinged meanwhile, and got no answer either
    await reports(opened, 'unsubscribed', 1);
    await fixture.server.resume();
    await reports(opened, 'connected', 2);
    await reports(opened, 'subscribed', 2);
    expect(disconnected).toHaveLength(1);
    expect(await store.renew(renewal)).toMatchObject({ held: true });
    expect(await commandConnection()).not.toBe(before);
  });

  it('is not blocked by a server that hung before it ever answered', async () => {
    await fixture.server.pause();
    const opened = fixture.begin();
    await expect(opened.store.acquire(acquireRequest('a#1'))).rejects.toMatchObject({ ...UNREACHABLE, wasSent: false });
    await failsWith(opened.store, 'no answer');
    await fixture.server.resume();
    await reports(opened, 'connected', 1);
    await granted(opened.store, acquireRequest('a#1'));
  });

  it('keeps its connection when only its own event loop was blocked', async () => {
    const { store } = await fixture.connect();
    await granted(store, acquireRequest('a#1'));
    const before = await commandConnection();
    const answer = store.renew(renewal);
    blockEventLoop(1.3 * SILENCE_MS);
    expect(await answer).toMatchObject({ held: true });
    const silent = store.renew(renewal);
    // blocked again and again, also right when the time of the connection would be up
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      blockEventLoop(1.1 * SILENCE_MS);
    }
    expect(await silent).toMatchObject({ held: true });
    expect(await commandConnection()).toBe(before);
  });

  it('keeps a silent connection without open requests', async () => {
    const { store, events } = await fixture.connect();
    const before = await fixture.connections();
    // the subscriber is pinged meanwhile
    await delay(3_500);
    expect(await fixture.connections()).toEqual(before);
    expect(events).toEqual(['connected', 'subscribed']);
    await granted(store, acquireRequest('a#1'));
  });

  const requests: [string, (store: RedisLockStore) => Promise<unknown>][] = [
    ['an acquire request that would be refused', (store) => store.acquire(acquireRequest('b#1'))],
    ['a renewal by another holder', (store) => store.renew({ ...renewal, holder: 'b#1' })],
    ['a claim by another holder', (store) => store.claim({ ...renewal, holder: 'b#1', token: 1, scheduledAt: 1 })],
    [
      'a release by another holder',
      (store) => store.release({ name: 'price-tick', holder: 'b#1', token: 1, update: {} }),
    ],
    ['a heartbeat without sessions', (store) => heartbeat(store, [])],
    ['the end of a session that has ended', (store) => store.endSession(sessionOfReplica('dead'))],
  ];

  it.each(requests)('learns that a server is read-only, also by %s', async (_, send) => {
    const { store } = await fixture.connect();
    await granted(store, acquireRequest('a#1'));
    await store.endSession(sessionOfReplica('dead'));
    await send(store);
    await fixture.raw.replicaof('127.0.0.1', 1);
    await expect(send(store)).rejects.toMatchObject({ message: expect.stringContaining('READONLY') });
  });

  it('closes the connection to a server that is no longer the primary', async () => {
    const opened = await fixture.connect();
    const { store } = opened;
    await granted(store, acquireRequest('a#1'));
    await fixture.raw.replicaof('127.0.0.1', 1);
    const rejected = store.renew(renewal);
    await expect(rejected).rejects.toMatchObject({ ...UNREACHABLE, message: expect.stringContaining('READONLY') });
    expect(opened.events).toContain('disconnected');
    await expect(store.renew(renewal)).rejects.toMatchObject({ wasSent: false });
    await reports(opened, 'connected', 2);
    await fixture.raw.replicaof('NO', 'ONE');
    await eventually('the store answers again', () => store.renew(renewal).catch(() => undefined));
    expect(await store.renew(renewal)).toMatchObject({ held: true });
  });

  it('reports too few replicas of Redis, and works again when there are enough', async () => {
    const { store } = await fixture.connect();
    await granted(store, acquireRequest('a#1'));
    await fixture.raw.config('SET', 'min-replicas-to-write', '1');
    await expect(store.renew(renewal)).rejects.toMatchObject({ code: 'STORE_REFUSED_WRITE' });
    await expect(heartbeat(store, [])).rejects.toMatchObject({ code: 'STORE_REFUSED_WRITE' });
    await fixture.raw.config('SET', 'min-replicas-to-write', '0');
    expect(await store.renew(renewal)).toMatchObject({ held: true });
  });

  it("closes its connection while another client's script does not end", async () => {
    const opened = await fixture.connect();
    const { store } = opened;
    await granted(store, acquireRequest('a#1'));
    await fixture.raw.config('SET', 'lua-time-limit', '20');
    const stranger = fixture.raw.duplicate();
    const endless = stranger.eval('while true do end', 0).catch(() => undefined);
    await failsWith(store, 'BUSY');
    await fixture.raw.script('KILL');
    await endless;
    stranger.disconnect();
    await reports(opened, 'connected', 2);
    expect(await store.renew(renewal)).toMatchObject({ held: true });
  });

  it('never repeats a request that was under way when the connection ended', async () => {
    await using proxy = await TcpProxy.start(fixture.server.port);
    const opened = await fixture.connect({ connection: proxy.url });
    proxy.freeze();
    const lost = opened.store.acquire(acquireRequest('a#1'));
    lost.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    proxy.reset();
    await expect(lost).rejects.toMatchObject({ ...UNREACHABLE, wasSent: true });
    proxy.thaw();
    await reports(opened, 'connected', 2);
    await granted(opened.store, acquireRequest('probe#1', { name: 'probe' }));
    expect(await fixture.raw.exists('myapp:price-tick:lock')).toBe(0);
  });

  it('does not send a forgotten script again after close()', async () => {
    const { store } = await fixture.connect();
    await fixture.raw.script('FLUSH');
    const lost = store.acquire(acquireRequest('a#1'));
    lost.catch(() => undefined);
    // the answer NOSCRIPT arrives when the store is closed already
    await new Promise((resolve) => setImmediate(resolve));
    await store.close();
    await expect(lost).rejects.toMatchObject(UNREACHABLE);
    expect(await fixture.raw.exists('myapp:price-tick:lock')).toBe(0);
  });

  describe('closes soon and for good', () => {
    const closesSoon = async ({ store, events }: OpenStore): Promise<void> => {
      const closed = store.close().then(() => 'closed');
      // generous: it takes a tenth of a second on a machine that has time
      expect(await Promise.race([closed, delay(10_000, 'hangs', { ref: false })])).toBe('closed');
      const before = [...events];
      await expect(store.renew(renewal)).rejects.toMatchObject({
        ...UNREACHABLE,
        message: 'the lock store is closed',
        wasSent: false,
      });
      await delay(50);
      expect(events).toEqual(before);
    };

    it('while the server is down', async () => {
      const opened = await fixture.connect();
      await fixture.server.kill();
      await closesSoon(opened);
    });

    it('while the server hangs, with a request under way, which rejects', async () => {
      const opened = await fixture.connect();
      await fixture.server.pause();
      const answer = opened.store.renew(renewal).catch((error: unknown) => error);
      await closesSoon(opened);
      expect(await answer).toMatchObject(UNREACHABLE);
    });

    it('while it connects to a server that hangs', async () => {
      await fixture.server.pause();
      const opened = fixture.begin();
      await delay(50);
      await closesSoon(opened);
    });

    it('right after it was opened, or before', async () => {
      await closesSoon(fixture.begin());
      const opened = fixture.begin();
      const closed = closesSoon(opened);
      opened.store.open();
      await closed;
    });

    it('and leaves no connection behind', async () => {
      const { store } = await fixture.connect();
      await store.close();
      await eventually(
        'the server has no connections',
        async () => (await fixture.connections()).length === 0 || undefined,
      );
    });
  });
});

/** The thread does nothing at all for a while, as in a long computation. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
