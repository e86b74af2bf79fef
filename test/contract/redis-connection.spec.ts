import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { asLockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { type RedisConnectionOptions } from '../../libs/singleton-job/src/store/redis/redis-clients.js';
import { type RedisStore } from '../../libs/singleton-job/src/store/redis/redis-store.js';
import { A, eventually, SuiteClient } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { freePort } from '../../tools/servers/free-port.js';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TlsCertificate } from '../support/tls-certificate.js';
import { RedisFixture, isListening, type OpenStore, openStore } from './redis-fixture.js';

const UNREACHABLE = { code: 'STORE_UNREACHABLE' };
const VERSIONS: [string, typeof Redis][] = [
  ['ioredis 6', Redis],
  ['ioredis 5', Redis5 as unknown as typeof Redis],
];

const sync = (store: RedisStore) => new SuiteClient(store).sync({ grant: [A] });
const reports = ({ events }: OpenStore, event: string, times = 1): Promise<unknown> =>
  eventually(`'${event}' is reported`, () => events.filter((one) => one === event).length >= times || undefined);

describe.each(VERSIONS)('a store with %s whose Redis fails', (_, Client) => {
  let fixture: RedisFixture;
  const connection = () => new Client(fixture.server.url, { lazyConnect: true });

  beforeEach(async () => {
    fixture = await RedisFixture.start();
  });

  afterEach(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  const requestConnection = async (): Promise<string | undefined> =>
    (await fixture.connections()).find(({ isSubscriber }) => !isSubscriber)?.id;

  it('rejects at once while the server is down, and works again when it is back', async () => {
    const opened = await fixture.connect({ connection: connection() });
    await sync(opened.store);
    await fixture.server.kill();
    await reports(opened, 'not listening');
    await eventually('an attempt fails', () => opened.disconnected.find(({ message }) => /ECONNREFUSED/.test(message)));
    await expect(sync(opened.store)).rejects.toMatchObject({
      ...UNREACHABLE,
      message: expect.stringMatching(/^Redis is not connected: connect ECONNREFUSED [\d.:]+$/),
      wasSent: false,
    });
    expect(opened.disconnected[0]).toMatchObject(UNREACHABLE);
    await fixture.server.up();
    await reports(opened, 'connected', 2);
    await isListening(opened);
    await sync(opened.store);
  });

  it('starts without a server, and connects when there is one', async () => {
    await fixture.server.kill();
    const opened = fixture.begin({ connection: connection() });
    await expect(sync(opened.store)).rejects.toMatchObject({ ...UNREACHABLE, wasSent: false });
    expect(opened.disconnected[0]?.message).toContain('ECONNREFUSED');
    await fixture.server.up();
    await isListening(opened);
    await sync(opened.store);
  });

  it('lets a request wait for the first connection', async () => {
    const opened = fixture.begin({ connection: connection() });
    await sync(opened.store);
    expect(opened.disconnected).toEqual([]);
  });

  it('closes a connection on which nothing arrives, and only that one', async () => {
    const opened = await fixture.connect({ connection: connection(), shortestLifeMs: 2_500 });
    await sync(opened.store);
    const before = await requestConnection();
    await fixture.server.pause();
    const sentAt = performance.now();
    await expect(sync(opened.store)).rejects.toMatchObject({
      ...UNREACHABLE,
      message: "Redis did not answer 'sync': no answer within 500 ms",
      wasSent: true,
    });
    expect(performance.now() - sentAt).toBeGreaterThan(450);
    expect(opened.events).toContain('disconnected');
    await expect(sync(opened.store)).rejects.toMatchObject({ wasSent: false });
    await fixture.server.resume();
    await reports(opened, 'connected', 2);
    await sync(opened.store);
    const after = await requestConnection();
    expect(after).not.toBe(before);
    await delay(700);
    expect(await requestConnection()).toBe(after);
  });

  it('waits for a fifth of the shortest life of a lease', async () => {
    const opened = await fixture.connect({ connection: connection(), shortestLifeMs: 800 });
    await fixture.server.pause();
    await expect(sync(opened.store)).rejects.toMatchObject({ message: expect.stringContaining('within 160 ms') });
    await fixture.server.resume();
  });

  it('is not blocked by a server that hung before it ever answered', async () => {
    await fixture.server.pause();
    const opened = fixture.begin({ connection: connection() });
    await expect(sync(opened.store)).rejects.toMatchObject({
      message: expect.stringContaining('no answer within 1.5 s'),
    });
    await fixture.server.resume();
    await isListening(opened);
  });

  it('keeps its connection when only its own event loop was blocked', async () => {
    const { store } = await fixture.connect({ connection: connection(), shortestLifeMs: 2_500 });
    await sync(store);
    const before = await requestConnection();
    const answer = sync(store);
    blockEventLoop(700);
    await answer;
    const silent = sync(store);
    // blocked again and again, also right when the time of the connection would be up
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      blockEventLoop(550);
    }
    await silent;
    expect(await requestConnection()).toBe(before);
  });

  it('keeps a silent connection without open requests', async () => {
    const { events } = await fixture.connect({ connection: connection() });
    const before = await fixture.connections();
    // the subscription is pinged meanwhile
    await delay(3_500);
    expect(await fixture.connections()).toEqual(before);
    expect([...events].sort()).toEqual(['connected', 'listening']);
  });

  it("rejects while another client's script does not end", async () => {
    const opened = await fixture.connect({ connection: connection() });
    await sync(opened.store);
    await fixture.raw.config('SET', 'lua-time-limit', '20');
    const stranger = fixture.raw.duplicate();
    const endless = stranger.eval('while true do end', 0).catch(() => undefined);
    const error = await eventually('a heartbeat fails', () =>
      sync(opened.store).then(() => undefined, asLockStoreError),
    );
    expect(error).toMatchObject({ ...UNREACHABLE, message: expect.stringContaining('BUSY') });
    await fixture.raw.script('KILL');
    await endless;
    stranger.disconnect();
    await sync(opened.store);
    expect(opened.disconnected).toEqual([]);
  });

  it('never repeats a request that was under way when the connection ended', async () => {
    await using proxy = await TcpProxy.start(fixture.server.port);
    const opened = await fixture.connect({ connection: new Client(proxy.url, { lazyConnect: true }) });
    proxy.freeze();
    const lost = sync(opened.store);
    lost.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    proxy.reset();
    await expect(lost).rejects.toMatchObject({ ...UNREACHABLE, wasSent: true });
    proxy.thaw();
    await reports(opened, 'connected', 2);
    expect((await new SuiteClient(opened.store).sync()).leases).toEqual(new Map());
  });

  describe('closes soon and for good', () => {
    const closesSoon = async ({ store, events }: OpenStore): Promise<void> => {
      const closed = store.close().then(() => 'closed');
      // generous: it takes a tenth of a second on a machine that has time
      expect(await Promise.race([closed, delay(10_000, 'hangs', { ref: false })])).toBe('closed');
      const before = [...events];
      const error = { ...UNREACHABLE, message: 'the store is not open', wasSent: false };
      await expect(sync(store)).rejects.toMatchObject(error);
      await delay(50);
      expect(events).toEqual(before);
    };

    it('while the server is down', async () => {
      const opened = await fixture.connect({ connection: connection() });
      await fixture.server.kill();
      await closesSoon(opened);
    });

    it('while the server hangs, with a request under way, which rejects', async () => {
      const opened = await fixture.connect({ connection: connection() });
      await fixture.server.pause();
      const answer = sync(opened.store).catch((error: unknown) => error);
      await closesSoon(opened);
      expect(await answer).toMatchObject(UNREACHABLE);
    });

    it('while it connects to a server that hangs', async () => {
      await fixture.server.pause();
      const opened = fixture.begin({ connection: connection() });
      await delay(50);
      await closesSoon(opened);
    });

    it('right after it was opened, or before', async () => {
      await closesSoon(fixture.begin({ connection: connection() }));
      const opened = fixture.begin({ connection: connection() });
      const closed = closesSoon(opened);
      opened.store.open();
      await closed;
    });

    it('and leaves no connection behind', async () => {
      const { store } = await fixture.connect({ connection: connection() });
      await store.close();
      await eventually('no connections', async () => (await fixture.connections()).length === 0 || undefined);
    });
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

  const leasesIn = async (db: number): Promise<number> => {
    const client = fixture.raw.duplicate({ db });
    const count = await client.exists('{myapp}:leases');
    client.disconnect();
    return count;
  };

  it('a URL with a database', async () => {
    const { store } = await fixture.connect({ connection: `${fixture.server.url}/2` });
    await sync(store);
    expect(await leasesIn(2)).toBe(1);
  });

  it('options, whose settings for queues and retries are ignored', async () => {
    const connection = {
      host: '127.0.0.1',
      port: fixture.server.port,
      enableOfflineQueue: true,
      autoResendUnfulfilledCommands: true,
      maxRetriesPerRequest: null,
      enableAutoPipelining: true,
      keyPrefix: 'app:',
      readOnly: true,
      db: 3,
    };
    const { store } = await fixture.connect({ connection: Object.freeze(connection) });
    await sync(store);
    expect(await leasesIn(3)).toBe(1);
  });

  it.each(VERSIONS)(
    'a client of %s, as BullMQ wants it, which is not used itself and not closed',
    async (_, Client) => {
      const client = new Client(fixture.server.url, { lazyConnect: true, db: 4, maxRetriesPerRequest: null });
      const { store } = await fixture.connect({ connection: client });
      await sync(store);
      await store.close();
      expect([client.status, await client.exists('{myapp}:leases')]).toEqual(['wait', 1]);
      client.disconnect();
    },
  );

  it('a client whose own `connectTimeout` counts, up to a third of the shortest lease', async () => {
    const connect = jest.spyOn(Redis.prototype, 'connect');
    const opened = async (own: RedisOptions): Promise<unknown[]> => {
      const connection = new Redis(fixture.server.url, { lazyConnect: true, ...own });
      connect.mockClear();
      await fixture.connect({ connection, shortestLifeMs: 9_000 });
      return connect.mock.contexts.map((client) => (client as Redis).options.connectTimeout);
    };
    expect(await opened({})).toEqual([1_500, 1_500]);
    expect(await opened({ connectTimeout: 500 })).toEqual([500, 500]);
    expect(await opened({ connectTimeout: 20_000 })).toEqual([3_000, 3_000]);
    connect.mockRestore();
  });
});

/** Servers of each kind. */
class Servers implements AsyncDisposable {
  private constructor(
    readonly certificate: TlsCertificate,
    readonly tlsPort: number,
    readonly plain: RedisServer,
    readonly sentinel: RedisServer,
    readonly cluster: RedisCluster,
    readonly other: Server,
  ) {}

  static async start(): Promise<Servers> {
    const certificate = await TlsCertificate.create();
    const tlsPort = await freePort();
    const plain = await RedisServer.start({ args: certificate.redisArguments(tlsPort) });
    const admin = new Redis(plain.url);
    await admin.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@all', '-select');
    admin.disconnect();
    const other = createServer((socket) => socket.on('error', () => undefined).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const otherPort = await freePort();
    await new Promise<void>((resolve) => other.listen(otherPort, '127.0.0.1', resolve));
    const sentinel = await RedisServer.start({ sentinel: true });
    return new Servers(certificate, tlsPort, plain, sentinel, await RedisCluster.start(), other);
  }

  get otherPort(): number {
    const address = this.other.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.other.close();
    await Promise.all([this.plain.stop(), this.sentinel.stop()]);
    await this.cluster[Symbol.asyncDispose]();
    await this.certificate[Symbol.asyncDispose]();
  }
}

interface WrongConnection {
  readonly name: string;
  readonly connection: (servers: Servers) => RedisConnectionOptions;
  /** What happened, and what to do. */
  readonly message: RegExp;
}

const at = (port: number) => ({ host: '127.0.0.1', port });

const WRONG: readonly WrongConnection[] = [
  {
    name: 'rediss:// to a port without TLS',
    connection: ({ plain }) => plain.url.replace('redis:', 'rediss:'),
    // by chance the greeting of TLS contains an end of line, and Redis answers it
    message:
      /(ETIMEDOUT|wrong version number).* If this port does not speak TLS, write redis:\/\/ instead of rediss:\/\//,
  },
  {
    name: 'redis:// to a port with TLS',
    connection: ({ tlsPort }) => `redis://127.0.0.1:${String(tlsPort)}`,
    message: /If this port speaks TLS, write rediss:\/\/ instead of redis:\/\//,
  },
  {
    name: 'a certificate of an unknown authority',
    connection: ({ tlsPort }) => `rediss://127.0.0.1:${String(tlsPort)}`,
    message: /self-signed certificate\. Check tls in connection: \{ ca \}/,
  },
  {
    name: 'the URL of a node of a cluster',
    connection: ({ cluster }) => cluster.nodes[0].server.url,
    message: /^This Redis is a cluster: write connection: \{ nodes: \[\{ host, port \}\] \}$/,
  },
  {
    name: 'a database of a cluster',
    connection: ({ cluster }) => `${cluster.nodes[1].server.url}/1`,
    message: /This Redis is a cluster: write connection: \{ nodes:/,
  },
  {
    name: 'the URL of a Sentinel',
    connection: ({ sentinel }) => sentinel.url,
    message: /^This server is a Sentinel: write connection: \{ sentinels: .* name: 'mymaster' \}$/,
  },
  {
    name: 'a name that the Sentinel does not know',
    connection: ({ sentinel }) => ({ sentinels: [at(sentinel.port)], name: 'nothing' }),
    message: /The Sentinels do not know this name: check name in connection/,
  },
  {
    name: 'a server in place of a Sentinel',
    connection: ({ plain }) => ({ sentinels: [at(plain.port)], name: 'mymaster' }),
    message: /The server that sentinels names is no Sentinel/,
  },
  {
    name: 'one server as the nodes of a cluster',
    connection: ({ plain }) => ({ nodes: [at(plain.port)] }),
    message: /This Redis is no cluster: write connection: 'redis:\/\/host:6379'/,
  },
  {
    name: 'a name of a cluster that there is not',
    connection: () => ({ nodes: [{ host: 'no-such-host.invalid', port: 6379 }] }),
    message: /no-such-host\.invalid/,
  },
  {
    name: 'a number of a database that there is not',
    connection: ({ plain }) => `${plain.url}/99`,
    message: /Redis has fewer databases: lower the number/,
  },
  {
    name: 'a database for a user who may not choose one',
    connection: ({ plain }) => `redis://reader:secret@127.0.0.1:${String(plain.port)}/1`,
    message: /A database other than 0 needs \+select/,
  },
  {
    name: 'something that is no Redis',
    connection: ({ otherPort }) => `redis://127.0.0.1:${String(otherPort)}`,
    message: /The server does not speak the protocol of Redis: check host and port/,
  },
];

describe('a connection that cannot work is explained with its fix:', () => {
  let servers: Servers;

  beforeAll(async () => {
    servers = await Servers.start();
  });

  afterAll(async () => {
    await servers[Symbol.asyncDispose]();
  });

  it.each(WRONG)('$name', async ({ connection, message }) => {
    const { store, disconnected } = openStore({ projectName: 'myapp', connection: connection(servers) });
    await eventually('the store tells why', () => disconnected.at(0));
    expect(disconnected[0]?.message).toMatch(message);
    // and tries again
    await eventually('another attempt', () => disconnected.at(1));
    await store.close();
  });

  it.each([0, 200])('TLS works with the authority of the server, at %i ms for each answer', async (answerDelayMs) => {
    const { tlsPort, certificate } = servers;
    await using proxy = await TcpProxy.start(tlsPort);
    proxy.answerDelayMs = answerDelayMs;
    const tls = { ca: certificate.pem };
    const client = new Redis(proxy.url.replace('redis:', 'rediss:'), { lazyConnect: true, tls });
    for (const connection of [{ ...at(Number(new URL(proxy.url).port)), tls }, client]) {
      const opened = openStore({ projectName: 'myapp', connection });
      await isListening(opened);
      await sync(opened.store);
      expect(opened.disconnected).toEqual([]);
      await opened.store.close();
    }
  });
});

/** The thread does nothing at all for a while, as in a long computation. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
