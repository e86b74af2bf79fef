import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { Redis } from 'ioredis';
import {
  FixedRate,
  type JobObserver,
  LockService,
  SingletonJobHealth,
  SingletonJobModule,
  type SingletonJobOptions,
  SingletonJobRegistry,
} from 'nestjs-singleton-job';
import { SingletonJobOpenTelemetryModule } from 'nestjs-singleton-job/opentelemetry';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { until } from '../../tools/replicas/until.js';
import { OnDemandReader } from '../support/collected-metrics.js';
import { startApplication } from '../support/nest-application.js';

const SECRET = 's3cret';
const NOWHERE = { host: '127.0.0.1', port: 1 };

@Injectable()
class Ticks {
  @FixedRate('1s', { name: 'one' })
  one(): void {}

  @FixedRate('1s', { name: 'two' })
  two(): void {}
}

/** With its error as a person may log it: with the cause and everything attached. */
class Printer implements JobObserver {
  readonly lines: string[] = [];
  hasFailed = false;

  onEvent({ event, payload }: Parameters<Required<JobObserver>['onEvent']>[0]): void {
    this.hasFailed ||= event === 'storeUnreachable' || event === 'requestDenied';
    this.lines.push(inspect(payload, { depth: 10, showHidden: true }));
  }
}

type Connection = NonNullable<SingletonJobOptions['connection']>;

/** A Redis that wants a password, one whose user `app` may do nothing, a Sentinel and a cluster that want a password. */
class Servers {
  private constructor(
    readonly plain: RedisServer,
    readonly sentinel: RedisServer,
    readonly cluster: RedisCluster,
  ) {}

  static async start(): Promise<Servers> {
    const plain = await RedisServer.start();
    const sentinel = await RedisServer.start({ sentinel: true });
    const cluster = await RedisCluster.start();
    for (const server of [plain, sentinel, ...cluster.nodes.map((node) => node.server)]) {
      const admin = new Redis(server.url);
      await admin.call('ACL', 'SETUSER', 'app', 'on', `>${SECRET}`);
      await admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>another');
      admin.disconnect();
    }
    return new Servers(plain, sentinel, cluster);
  }

  async stop(): Promise<void> {
    await Promise.all([this.plain.stop(), this.sentinel.stop(), this.cluster[Symbol.asyncDispose]()]);
  }
}

const FAILING: readonly [name: string, connection: (servers: Servers) => Connection][] = [
  ['a URL with a wrong password', ({ plain }) => plain.url.replace('//', `//:${SECRET}@`)],
  ['a URL with a user who does not exist', ({ plain }) => plain.url.replace('//', `//nobody:${SECRET}@`)],
  ['a URL with a user who has no rights', ({ plain }) => plain.url.replace('//', `//app:${SECRET}@`)],
  ['a URL with a database', ({ plain }) => `${plain.url.replace('//', `//app:${SECRET}@`)}/1`],
  ['a URL to a closed port', () => `redis://app:${SECRET}@127.0.0.1:1`],
  ['a URL with an unknown host', () => `redis://app:${SECRET}@redis.invalid:6379`],
  ['a URL with TLS to a port without', ({ plain }) => plain.url.replace('redis://', `rediss://app:${SECRET}@`)],
  ['options with a wrong password', ({ plain }) => ({ host: '127.0.0.1', port: plain.port, password: SECRET })],
  [
    'options in RESP2',
    ({ plain }) => ({ host: '127.0.0.1', port: plain.port, username: 'nobody', password: SECRET, protocol: 2 }),
  ],
  [
    'a client with a wrong password',
    ({ plain }) => new Redis({ port: plain.port, password: SECRET, lazyConnect: true }),
  ],
  ['a URL of a node of a cluster', ({ cluster }) => cluster.nodes[0].server.url.replace('//', `//app:${SECRET}@`)],
  [
    'nodes with a wrong password',
    ({ cluster }) => ({ nodes: cluster.addresses, options: { redisOptions: { password: SECRET } } }),
  ],
  ['nodes as URLs', ({ cluster }) => ({ nodes: [cluster.nodes[0].server.url.replace('//', `//nobody:${SECRET}@`)] })],
  ['nodes as URLs to a closed port', () => ({ nodes: [`redis://app:${SECRET}@127.0.0.1:1`] })],
  [
    'a wrong password of a Sentinel',
    ({ sentinel }) => ({
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      name: 'shop',
      sentinelPassword: SECRET,
      password: SECRET,
    }),
  ],
  ['no Sentinel', () => ({ sentinels: [NOWHERE], name: 'shop', sentinelPassword: SECRET, password: SECRET })],
];

/** Everything that `act` prints, also by the console of other packages. */
async function printedBy(act: () => Promise<string>): Promise<string> {
  const printed: string[] = [];
  const note = (...words: unknown[]): void => {
    printed.push(words.map((word) => inspect(word, { depth: 10, showHidden: true })).join(' '));
  };
  const spies = (['log', 'warn', 'error', 'info', 'debug'] as const).map((way) =>
    jest.spyOn(console, way).mockImplementation(note),
  );
  try {
    const returned = await act();
    return [...printed, returned].join('\n');
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('A password', () => {
  let servers: Servers;

  beforeAll(async () => {
    servers = await Servers.start();
  });

  afterAll(async () => {
    await servers.stop();
  });

  it.each(FAILING)('is in no log line, event, error, status and metric of %s', async (_name, connection) => {
    const printed = await printedBy(async () => {
      const [printer, reader] = [new Printer(), new OnDemandReader()];
      const meterProvider = new MeterProvider({ readers: [reader] });
      const options = {
        projectName: 'test',
        connection: connection(servers),
        observers: [printer],
      };
      await using application = await startApplication({
        imports: [SingletonJobModule.forRoot(options), SingletonJobOpenTelemetryModule.forRoot({ meterProvider })],
        providers: [Ticks],
      });
      const { app, logger } = application;
      await until('it fails', () => printer.hasFailed);
      const error: unknown = await app
        .get(LockService, { strict: false })
        .tryAcquire('lock')
        .catch((e: unknown) => e);
      const texts = [
        error,
        app.get(SingletonJobRegistry, { strict: false }).list(),
        app.get(SingletonJobHealth, { strict: false }).report(),
        await reader.collect(),
      ].map((value) => inspect(value, { depth: 10, showHidden: true }));
      expect(logger.lines.join('\n')).toMatch(/Redis is unavailable|refuses a request/);
      return [...logger.lines, ...printer.lines, ...texts].join('\n');
    });
    expect(printed).not.toContain(SECRET);
  });

  it('is not printed by a process that fails to start', async () => {
    const { code, printed } = await new Promise<{ code: unknown; printed: string }>((resolve) => {
      const env = { PATH: process.env['PATH'], REDIS_URL: `redis://:${SECRET}#x@h:1` };
      const args = ['--import', 'tsx', join(ROOT, 'apps/minimal/src/main.ts')];
      execFile(process.execPath, args, { cwd: ROOT, env }, (error, stdout, stderr) => {
        resolve({ code: error?.code, printed: `${stdout}${stderr}` });
      });
    });
    expect(code).toBe(1);
    expect(printed).toContain("connection must have no #, /, ? or single % before the '@'");
    expect(printed).not.toContain(SECRET);
  });
});
