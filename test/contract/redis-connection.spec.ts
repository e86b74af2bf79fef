import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { type RedisConnectionOptions } from '../../libs/singleton-job/src/store/redis/redis-clients.js';
import { A, until } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { freePort } from '../../tools/servers/free-port.js';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { TlsCertificate } from '../support/tls-certificate.js';
import { oneForAll } from '../support/use-redis.js';
import { openStore, RedisFixture, VERSIONS } from './redis-fixture.js';
import { isListening, type OpenStore, saying } from './reporting-store.js';

const UNREACHABLE = { code: 'STORE_UNREACHABLE' };

const sync = ({ replica }: OpenStore) => replica.sync({ grant: [A] });
const reports = ({ events }: OpenStore, event: string, times = 1): Promise<unknown> =>
  until(`'${event}' is reported`, () => events.filter((one) => one === event).length >= times || undefined);

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

  it('starts without a server, connects when there is one, and again after an outage', async () => {
    await fixture.server.kill();
    const opened = fixture.begin({ connection: connection() });
    for (const times of [1, 2]) {
      await until('an attempt fails', () => opened.disconnected.find(({ message }) => /REFUSED/.test(message)));
      const refused = saying('STORE_UNREACHABLE', /^Redis is not connected: connect ECONNREFUSED [\d.:]+$/);
      await expect(sync(opened)).rejects.toMatchObject({ ...refused, wasSent: false });
      await fixture.server.up();
      await reports(opened, 'connected', times);
      await isListening(opened);
      await sync(opened);
      opened.disconnected.length = 0;
      await fixture.server.kill();
      await reports(opened, 'not listening', times);
    }
  });

  it('closes a connection on which nothing arrives, and only that one', async () => {
    const opened = await fixture.connect({ connection: connection(), minTtlMs: 2_500 });
    await sync(opened);
    const before = await requestConnection();
    await fixture.server.pause();
    const sentAt = performance.now();
    await expect(sync(opened)).rejects.toMatchObject({
      ...UNREACHABLE,
      message: "Redis did not answer 'sync': no answer within 500 ms",
      wasSent: true,
    });
    expect(performance.now() - sentAt).toBeGreaterThan(450);
    expect(opened.events).toContain('disconnected');
    await expect(sync(opened)).rejects.toMatchObject({ wasSent: false });
    await fixture.server.resume();
    await reports(opened, 'connected', 2);
    await sync(opened);
    const after = await requestConnection();
    expect(after).not.toBe(before);
    await delay(700);
    expect(await requestConnection()).toBe(after);
  });

  it('is not blocked by a server that hung before it ever answered', async () => {
    await fixture.server.pause();
    const opened = fixture.begin({ connection: connection(), minTtlMs: 2_500 });
    await expect(sync(opened)).rejects.toThrow('no answer within 500 ms');
    // it keeps nothing of a client that is gone, so no attempt comes late
    await until('it is tried again and again', () => opened.disconnected.length > 5 || undefined);
    await fixture.server.resume();
    await isListening(opened);
  });

  it('keeps its connection when only its own event loop was blocked', async () => {
    const opened = await fixture.connect({ connection: connection(), minTtlMs: 2_500 });
    await sync(opened);
    const before = await requestConnection();
    const answer = sync(opened);
    blockEventLoop(700);
    await answer;
    const silent = sync(opened);
    // blocked again and again, also right when the time of the connection would be up
    for (let round = 0; round < 2; round++) {
      await new Promise((resolve) => setImmediate(resolve));
      blockEventLoop(550);
    }
    await silent;
    expect(await requestConnection()).toBe(before);
  });

  it('never repeats a request that was under way when the connection ended', async () => {
    await using proxy = await TcpProxy.start(fixture.server.port);
    const opened = await fixture.connect({ connection: new Client(proxy.url, { lazyConnect: true }) });
    proxy.freeze();
    const lost = sync(opened);
    lost.catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    proxy.reset();
    await expect(lost).rejects.toMatchObject({ ...UNREACHABLE, wasSent: true });
    proxy.thaw();
    await reports(opened, 'connected', 2);
    expect(await opened.replica.leases()).toEqual([]);
  });

  it.each<[string, (server: RedisServer) => Promise<unknown>]>([
    ['is down', (server) => server.kill()],
    ['hangs', (server) => server.pause()],
    ['works', () => Promise.resolve()],
  ])('closes for good while the server %s, also if it has just begun to connect', async (_how, begin) => {
    const connected = await fixture.connect({ connection: connection() });
    await begin(fixture.server);
    const beginning = fixture.begin({ connection: connection() });
    for (const opened of [connected, beginning, fixture.begin({ connection: connection() })]) {
      const { store, events } = opened;
      const answer = sync(opened).catch((error: unknown) => error);
      const closed = store.close();
      store.open();
      await closed;
      await answer;
      const before = [...events];
      await expect(sync(opened)).rejects.toMatchObject({ message: 'the store is not open', wasSent: false });
      await delay(50);
      expect(events).toEqual(before);
    }
    await fixture.server.resume();
    await fixture.server.up();
    await until('no connection is left', async () => (await fixture.connections()).length === 0 || undefined);
  });
});

describe('a connection may be given as', () => {
  const fixture = oneForAll(() => RedisFixture.start());

  it.each<[string, number, () => RedisConnectionOptions]>([
    ['a URL with a database', 2, () => `${fixture().server.url}/2`],
    [
      'options, whose settings for queues and retries are ignored',
      3,
      () => ({
        ...at(fixture().server.port),
        enableOfflineQueue: true,
        autoResendUnfulfilledCommands: true,
        maxRetriesPerRequest: null,
        enableAutoPipelining: true,
        keyPrefix: 'app:',
        readOnly: true,
        db: 3,
      }),
    ],
    [
      'a client with stringNumbers',
      5,
      () => new Redis(fixture().server.url, { lazyConnect: true, stringNumbers: true, db: 5 }),
    ],
  ])('%s', async (_what, db, connection) => {
    const { time } = await sync(await fixture().connect({ connection: connection() }));
    expect(time).toBeGreaterThan(Date.now() - 60_000);
    const client = fixture().raw.duplicate({ db });
    expect(await client.exists('{myapp}:leases')).toBe(1);
    client.disconnect();
  });

  it.each(VERSIONS)(
    'a client of %s, as BullMQ wants it, which is not used itself and not closed',
    async (_, Client) => {
      const client = new Client(fixture().server.url, { lazyConnect: true, db: 4, maxRetriesPerRequest: null });
      const opened = await fixture().connect({ connection: client });
      await sync(opened);
      await opened.store.close();
      expect([client.status, await client.exists('{myapp}:leases')]).toEqual(['wait', 1]);
      client.disconnect();
    },
  );

  it('a client whose own `connectTimeout` counts, up to a third of the shortest lease', async () => {
    const connect = jest.spyOn(Redis.prototype, 'connect');
    const opened = async (own: RedisOptions): Promise<unknown[]> => {
      const connection = new Redis(fixture().server.url, { lazyConnect: true, ...own });
      connect.mockClear();
      await fixture().connect({ connection, minTtlMs: 9_000 });
      return connect.mock.contexts.map((client) => (client as Redis).options.connectTimeout);
    };
    expect(await opened({})).toEqual([1_500, 1_500]);
    expect(await opened({ connectTimeout: 500 })).toEqual([500, 500]);
    expect(await opened({ connectTimeout: 20_000 })).toEqual([3_000, 3_000]);
    connect.mockRestore();
  });
});

const SECRET = 's3cret';

/** Servers of each kind. Each has the user `app`, who may not choose a database on the plain one. */
async function startServers() {
  const certificate = await TlsCertificate.create();
  const tlsPort = await freePort();
  const plain = await RedisServer.start({ args: certificate.redisArguments(tlsPort) });
  const sentinel = await RedisServer.start({ sentinel: true });
  const cluster = await RedisCluster.start();
  for (const server of [plain, sentinel, ...cluster.nodes.map((node) => node.server)]) {
    const admin = new Redis(server.url);
    const rights = server === plain ? ['+@all', '-select'] : ['+@all'];
    await admin.call('ACL', 'SETUSER', 'app', 'on', `>${SECRET}`, '~*', '&*', ...rights);
    admin.disconnect();
  }
  const end = async (): Promise<void> => {
    for (const one of [plain, sentinel, cluster, certificate]) await one[Symbol.asyncDispose]();
  };
  return { certificate, tlsPort, plain, sentinel, cluster, [Symbol.asyncDispose]: end };
}

type Servers = Awaited<ReturnType<typeof startServers>>;

type WrongConnection = readonly [
  name: string,
  /** What happened, and what to do. */
  message: RegExp,
  connection: (servers: Servers) => RedisConnectionOptions,
];

const at = (port: number) => ({ host: '127.0.0.1', port });
const NOBODY = { username: 'nobody', password: SECRET };
const urlOf = (port: number, user = 'app') => `redis://${user}:${SECRET}@127.0.0.1:${String(port)}`;
const WRONG_PASSWORD = /WRONGPASS.*Check the user name and the password/;

const WRONG: readonly WrongConnection[] = [
  [
    'rediss:// to a port without TLS',
    // by chance the greeting of TLS contains an end of line, and Redis answers it
    /(ETIMEDOUT|wrong version number).* If this port does not speak TLS, write redis:/,
    ({ plain }) => urlOf(plain.port).replace('redis:', 'rediss:'),
  ],
  ['redis:// to a port with TLS', /If this port speaks TLS, write rediss:/, ({ tlsPort }) => urlOf(tlsPort)],
  [
    'a certificate of an unknown authority',
    /self-signed certificate\. Check tls in/,
    ({ tlsPort }) => urlOf(tlsPort).replace('redis:', 'rediss:'),
  ],
  ['the URL of one node', /^This Redis is a cluster: write/, ({ cluster }) => urlOf(cluster.nodes[0].server.port)],
  // the databases of a cluster of Valkey 9 have a number
  [
    'a database of a cluster',
    /This Redis is a cluster: write|has fewer databases: lower the number/,
    ({ cluster }) => `${cluster.nodes[1].server.url}/1`,
  ],
  ['the URL of a Sentinel', /^This server is a Sentinel: write/, ({ sentinel }) => urlOf(sentinel.port)],
  [
    'a name that the Sentinel does not know',
    /The Sentinels do not know this name: check name/,
    ({ sentinel }) => ({ sentinels: [at(sentinel.port)], name: 'nothing', password: SECRET }),
  ],
  [
    'a server in place of a Sentinel',
    /The server that sentinels names is no Sentinel/,
    ({ plain }) => ({ sentinels: [at(plain.port)], name: 'mymaster', password: SECRET }),
  ],
  ['one server as nodes', /This Redis is no cluster: write/, ({ plain }) => ({ nodes: [urlOf(plain.port)] })],
  ['no such host', /no-such-host\.invalid/, () => ({ nodes: [`redis://app:${SECRET}@no-such-host.invalid`] })],
  ['a number of a database that there is not', /Redis has fewer databases/, ({ plain }) => `${plain.url}/99`],
  ['a database without the right', /A database other than 0 needs \+select/, ({ plain }) => `${urlOf(plain.port)}/1`],
  ['a wrong password', WRONG_PASSWORD, ({ plain }) => urlOf(plain.port, 'nobody')],
  ['a wrong password in RESP2', WRONG_PASSWORD, ({ plain }) => ({ ...at(plain.port), ...NOBODY, protocol: 2 })],
  [
    'a wrong one of a cluster',
    WRONG_PASSWORD,
    ({ cluster }) => ({ nodes: cluster.addresses, options: { redisOptions: NOBODY } }),
  ],
  [
    'a wrong password of a Sentinel',
    WRONG_PASSWORD,
    ({ sentinel }) => ({
      sentinels: [at(sentinel.port)],
      name: 'shop',
      sentinelUsername: 'nobody',
      sentinelPassword: SECRET,
    }),
  ],
];

describe('a connection that cannot work is explained with its fix, and without its password:', () => {
  const servers = oneForAll(startServers);

  it.each(WRONG)('%s', async (_name, message, connection) => {
    // ioredis prints some errors itself
    const spies = (['warn', 'error'] as const).map((way) =>
      jest.spyOn(console, way).mockImplementation(() => undefined),
    );
    const opened = openStore({ projectName: 'myapp', connection: connection(servers()) });
    const { store, disconnected } = opened;
    await until('the store says why', () => disconnected.at(0));
    expect(disconnected[0]?.message).toMatch(message);
    await until('another attempt', () => disconnected.at(1));
    const refused = await sync(opened).catch((error: unknown) => error);
    await store.close();
    const printed = spies.map(({ mock }) => mock.calls);
    for (const spy of spies) spy.mockRestore();
    expect(inspect([disconnected, refused, printed], { depth: 10, showHidden: true })).not.toContain(SECRET);
  });

  it.each([0, 200])('TLS works with the authority of the server, at %i ms for each answer', async (answerDelayMs) => {
    const { tlsPort, certificate } = servers();
    await using proxy = await TcpProxy.start(tlsPort);
    proxy.answerDelayMs = answerDelayMs;
    const tls = { ca: certificate.pem };
    const client = new Redis(proxy.url.replace('redis:', 'rediss:'), { lazyConnect: true, tls });
    for (const connection of [{ ...at(Number(new URL(proxy.url).port)), tls }, client]) {
      const opened = openStore({ projectName: 'myapp', connection });
      await isListening(opened);
      await sync(opened);
      expect(opened.disconnected).toEqual([]);
      await opened.store.close();
    }
  });
});

/** The thread does nothing at all for a while, as in a long computation. */
function blockEventLoop(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
