import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { createServer, type Server } from 'node:net';
import { type RedisConnectionOptions } from '../../libs/singleton-job/src/store/redis/redis-clients.js';
import { RedisLockStore } from '../../libs/singleton-job/src/store/redis/redis-lock-store.js';
import { eventually } from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { freePort } from '../../tools/replicas/free-port.js';
import { RedisCluster } from '../../tools/replicas/redis/redis-cluster.js';
import { TlsCertificate } from '../support/tls-certificate.js';

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
    const store = new RedisLockStore({ projectName: 'myapp', connection: connection(servers) });
    const messages: string[] = [];
    store.addListener({ disconnected: (error) => messages.push(error.message) });
    store.open();
    await eventually('the store tells why', () => messages.length > 0 || undefined);
    await store.close();
    expect(messages[0]).toMatch(message);
  });

  it('TLS works with the certificate authority of the server', async () => {
    const { tlsPort, certificate } = servers;
    const store = new RedisLockStore({
      projectName: 'myapp',
      connection: { ...at(tlsPort), tls: { ca: certificate.pem } },
    });
    const events: string[] = [];
    store.addListener({ connected: () => events.push('connected'), subscribed: () => events.push('subscribed') });
    store.open();
    await eventually('the store is connected and subscribed', () => events.length === 2 || undefined);
    await store.close();
  });
});
