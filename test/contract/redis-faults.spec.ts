import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type RedisLockStore } from '../../libs/singleton-job/src/store/index.js';
import { STALL_MS } from '../../libs/singleton-job/src/store/redis/socket-watchdog.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/index.js';
import { makeReplica } from '../../libs/singleton-job/src/runner/index.js';
import { bidOf, eventually, granted, LONG_MS } from './lock-store-world.js';
import { type OpenStore, RedisFixture } from './redis-fixture.js';

const UNREACHABLE = { code: 'STORE_UNREACHABLE' };
const renewal = { name: 'price-tick', holder: 'a#1', lockExpiryMs: LONG_MS, progress: {} };

describe('a store whose Redis fails', () => {
  let fixture: RedisFixture;

  beforeEach(async () => {
    fixture = await RedisFixture.start();
  });

  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  const answers = (store: RedisLockStore): Promise<true> =>
    eventually('the store answers again', () =>
      store.acquire(bidOf('probe#1', { name: 'probe' })).then(
        () => true as const,
        () => undefined,
      ),
    );
  const commandConnection = async (): Promise<string | undefined> =>
    (await fixture.connections()).find(({ isSubscriber }) => !isSubscriber)?.id;
  const toldAgain = async ({ told }: OpenStore, what: string, times: number): Promise<void> => {
    await eventually(`${what} is told`, () => told.filter((word) => word === what).length >= times || undefined);
  };

  it('rejects while the server is down, at once, and goes on when it is back', async () => {
    const opened = await fixture.connect();
    const { store } = opened;
    await granted(store, bidOf('a#1'));
    await fixture.server.kill();
    await expect(store.renew(renewal)).rejects.toMatchObject(UNREACHABLE);
    await eventually('it knows that it does not hear', () => !store.hearsReleases || undefined);
    await eventually('it says why', () =>
      store.renew(renewal).then(
        () => undefined,
        (error: unknown) => (String(error).includes('ECONNREFUSED') ? true : undefined),
      ),
    );
    await fixture.server.up();
    await toldAgain(opened, 'reachable', 2);
    await toldAgain(opened, 'hearing', 2);
    // the data are gone, and the store does not pretend otherwise
    expect(await store.renew(renewal)).toMatchObject({ held: false });
  });

  it('begins without a server, and connects when there is one', async () => {
    await fixture.server.kill();
    const opened = fixture.begin();
    await expect(opened.store.acquire(bidOf('a#1'))).rejects.toMatchObject(UNREACHABLE);
    expect(opened.store.hearsReleases).toBe(false);
    await fixture.server.up();
    await toldAgain(opened, 'reachable', 1);
    await toldAgain(opened, 'hearing', 1);
    await granted(opened.store, bidOf('a#1'));
  });

  it('gives up a socket on which nothing arrives, and has a new one once the server goes on', async () => {
    const opened = await fixture.connect();
    const { store, told } = opened;
    await granted(store, bidOf('a#1'));
    const before = await commandConnection();
    await fixture.server.pause();
    await expect(store.renew(renewal)).rejects.toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining(`${String(STALL_MS)} ms`),
    });
    // its subscriber was pinged meanwhile, and got no answer either
    await eventually('it knows that it does not hear', () => !store.hearsReleases || undefined);
    const heardBefore = told.length;
    await delay(2 * STALL_MS);
    expect(told.length).toBe(heardBefore);
    await fixture.server.resume();
    await toldAgain(opened, 'reachable', 2);
    await toldAgain(opened, 'hearing', 2);
    expect(await store.renew(renewal)).toMatchObject({ held: true });
    expect(await commandConnection()).not.toBe(before);
  });

  it('keeps its socket to a server that hangs for a moment, however short the leases', async () => {
    const options = resolveOptions({
      projectName: 'myapp',
      connection: fixture.server.url,
      heartbeatInterval: 80,
      lockExpiry: 250,
    });
    const replica = makeReplica({ options, replicaId: 'a', notify: () => undefined });
    const { store } = replica;
    replica.open();
    try {
      await eventually('the store hears releases', () => store.hearsReleases || undefined);
      await granted(store, bidOf('a#1'));
      const before = await fixture.connections();
      await fixture.server.pause();
      const answer = store.renew(renewal);
      await delay(STALL_MS / 2);
      await fixture.server.resume();
      expect(await answer).toMatchObject({ held: true });
      expect(await fixture.connections()).toEqual(before);
    } finally {
      await replica.close();
    }
  });

  it('reconnects at once after it gave up a silent socket', async () => {
    const proxy = await SilentProxy.start(fixture.server.port);
    try {
      proxy.swallowsCommands = true;
      fixture.begin({ connection: { host: '127.0.0.1', port: proxy.port } });
      await eventually('it has a second socket', () => proxy.accepted.length > 1 || undefined);
      const [first, second] = proxy.accepted;
      // a quarter of a second is the shortest pause between two attempts that fail at once
      expect(Number(second?.atMs) - Number(first?.closedAtMs)).toBeLessThan(250);
    } finally {
      await proxy.stop();
    }
  });

  it('is not held up by a server that hung before it ever answered', async () => {
    await fixture.server.pause();
    const opened = fixture.begin();
    await expect(opened.store.acquire(bidOf('a#1'))).rejects.toMatchObject(UNREACHABLE);
    await eventually('it gives the silent socket up', () =>
      opened.store.acquire(bidOf('a#1')).then(
        () => undefined,
        (error: unknown) => (String(error).includes('no answer') ? true : undefined),
      ),
    );
    await fixture.server.resume();
    await toldAgain(opened, 'reachable', 1);
    await granted(opened.store, bidOf('a#1'));
  });

  it('keeps its socket when only its own event loop was blocked', async () => {
    const { store } = await fixture.connect();
    await granted(store, bidOf('a#1'));
    const before = await commandConnection();
    const answer = store.renew(renewal);
    blockEventLoop(1.2 * STALL_MS);
    expect(await answer).toMatchObject({ held: true });
    const silent = store.renew(renewal);
    // blocked again and again, also right when the time of the socket would be up
    for (let round = 0; round < 4; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      blockEventLoop(1.2 * STALL_MS);
    }
    expect(await silent).toMatchObject({ held: true });
    expect(await commandConnection()).toBe(before);
  });

  it('keeps a socket that is silent because nothing was asked', async () => {
    const { store } = await fixture.connect();
    const before = await fixture.connections();
    await delay(2 * STALL_MS);
    expect(await fixture.connections()).toEqual(before);
    await granted(store, bidOf('a#1'));
  });

  it.each([
    ['a bid that is refused', (store: RedisLockStore) => store.acquire(bidOf('b#1'))],
    [
      'a release of what is not ours',
      (store: RedisLockStore) => store.release({ name: 'price-tick', holder: 'b#1', progress: {}, quietly: true }),
    ],
  ])(
    'hears from a server that takes no writes that it does not, also where nothing is to be written: %s',
    async (_, ask) => {
      const { store } = await fixture.connect();
      await granted(store, bidOf('a#1'));
      await ask(store);
      await fixture.raw.replicaof('127.0.0.1', 1);
      await expect(ask(store)).rejects.toMatchObject({ message: expect.stringContaining('READONLY') });
    },
  );

  it('drops the socket to a server that is no longer the primary', async () => {
    const opened = await fixture.connect();
    const { store } = opened;
    await granted(store, bidOf('a#1'));
    await fixture.raw.replicaof('127.0.0.1', 1);
    await expect(store.renew(renewal)).rejects.toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining('READONLY'),
    });
    await toldAgain(opened, 'reachable', 2);
    await fixture.raw.replicaof('NO', 'ONE');
    await answers(store);
    expect(await store.renew(renewal)).toMatchObject({ held: true });
  });

  it('says that too few replicas are there, and goes on when they are', async () => {
    const { store } = await fixture.connect();
    await granted(store, bidOf('a#1'));
    await fixture.raw.config('SET', 'min-replicas-to-write', '1');
    await expect(store.renew(renewal)).rejects.toMatchObject({ code: 'STORE_REFUSED_WRITE' });
    await fixture.raw.config('SET', 'min-replicas-to-write', '0');
    expect(await store.renew(renewal)).toMatchObject({ held: true });
  });

  it("waits out somebody else's endless script", async () => {
    const { store } = await fixture.connect();
    await granted(store, bidOf('a#1'));
    await fixture.raw.config('SET', 'busy-reply-threshold', '20');
    const stranger = fixture.raw.duplicate();
    const endless = stranger.eval('while true do end', 0).catch(() => undefined);
    await eventually('the server says that it is busy', () =>
      store.renew(renewal).then(
        () => undefined,
        (error: unknown) => (String(error).includes('BUSY') ? true : undefined),
      ),
    );
    await fixture.raw.script('KILL');
    await endless;
    stranger.disconnect();
    expect(await store.renew(renewal)).toMatchObject({ held: true });
  });

  it('never sends again what was under way when the connection ended', async () => {
    const proxy = await SilentProxy.start(fixture.server.port);
    try {
      const opened = await fixture.connect({ connection: { host: '127.0.0.1', port: proxy.port } });
      proxy.swallowsCommands = true;
      const lost = opened.store.acquire(bidOf('a#1'));
      lost.catch(() => undefined);
      proxy.cut();
      await expect(lost).rejects.toMatchObject(UNREACHABLE);
      proxy.swallowsCommands = false;
      await toldAgain(opened, 'reachable', 2);
      await answers(opened.store);
      expect(await fixture.raw.exists('myapp:price-tick:lock')).toBe(0);
    } finally {
      await proxy.stop();
    }
  });

  describe('closes soon and for good', () => {
    const closesSoon = async (store: RedisLockStore): Promise<void> => {
      const closed = store.close().then(() => 'closed');
      // generous: it takes a tenth of a second on a machine that has time
      expect(await Promise.race([closed, delay(10_000, 'hangs', { ref: false })])).toBe('closed');
      await expect(store.renew(renewal)).rejects.toMatchObject({ ...UNREACHABLE, message: 'the lock store is closed' });
    };

    it('while the server is down', async () => {
      const { store } = await fixture.connect();
      await fixture.server.kill();
      await closesSoon(store);
    });

    it('while the server hangs, with a command under way, which rejects', async () => {
      const { store } = await fixture.connect();
      await fixture.server.pause();
      const answer = store.renew(renewal).catch((error: unknown) => error);
      await closesSoon(store);
      expect(await answer).toMatchObject(UNREACHABLE);
    });

    it('while it connects to a server that hangs', async () => {
      await fixture.server.pause();
      const { store } = fixture.begin();
      await delay(50);
      await closesSoon(store);
    });

    it('right after it was told to open, or before', async () => {
      await closesSoon(fixture.begin().store);
      const { store } = fixture.begin();
      const closed = closesSoon(store);
      store.open();
      await closed;
    });

    it('and leaves no connection behind', async () => {
      const { store } = await fixture.connect();
      await store.close();
      await eventually('the server sees nobody', async () => (await fixture.connections()).length === 0 || undefined);
    });
  });
});

/** The thread does nothing at all for a while, as in a long computation. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Stands between a client and Redis, and can keep what the client sends. */
class SilentProxy {
  swallowsCommands = false;
  /** Every connection that was made to it, in order. */
  readonly accepted: { readonly atMs: number; closedAtMs?: number }[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(port: number): Promise<SilentProxy> {
    const net = await import('node:net');
    const proxy = new SilentProxy(createServer());
    proxy.#server.on('connection', (client) => {
      const redis = net.connect(port, '127.0.0.1');
      const connection: (typeof proxy.accepted)[number] = { atMs: performance.now() };
      proxy.accepted.push(connection);
      client.on('close', () => (connection.closedAtMs = performance.now()));
      for (const socket of [client, redis]) {
        proxy.#sockets.add(socket);
        socket.on('error', () => {});
      }
      client.on('data', (data) => proxy.swallowsCommands || redis.write(data));
      redis.pipe(client);
      client.on('close', () => redis.destroy());
      redis.on('close', () => client.destroy());
    });
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
