import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { build } from 'esbuild';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import {
  type ConnectionOptions,
  FixedRate,
  type JobEvents,
  type JobObserver,
  SingletonJobModule,
} from 'nestjs-singleton-job';
import { PostgresServer } from '../../tools/servers/postgres-server.js';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { until } from '../../tools/replicas/until.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { startApplication } from '../support/nest-application.js';

@Injectable()
class Ticks {
  count = 0;

  @FixedRate('50ms', { name: 'tick' })
  tick(): void {
    this.count += 1;
  }
}

class Losses implements JobObserver {
  readonly reasons: string[] = [];

  leadershipLost({ reason }: JobEvents['leadershipLost']): void {
    this.reasons.push(reason);
  }
}

describe('A password that changes while the application runs', () => {
  let folder: string;
  /** Node cannot run the program of the thread from its source. */
  let workerFile: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'singleton-job-thread-'));
    workerFile = join(folder, 'heartbeat-thread.cjs');
    const entry = join(ROOT, 'libs/singleton-job/src/heartbeat-thread/index.ts');
    await build({
      entryPoints: [entry],
      outfile: workerFile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'error',
    });
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    ['Redis', 'no', 2],
    ['Redis', 'a', 3],
    ['PostgreSQL', 'no', 2],
    ['PostgreSQL', 'a', 3],
  ] as const)('costs no lead on %s, with %s heartbeat thread', async (store, hasThread, connections) => {
    await using server = await (store === 'Redis' ? rotatingRedis() : rotatingPostgres(folder));
    await server.setPassword('first');
    let password = 'first';
    const [ticks, losses] = [new Ticks(), new Losses()];
    const module = SingletonJobModule.forRoot({
      projectName: 'myapp',
      connection: async () => server.connection(password),
      // a busy machine reconnects within it
      lockExpiry: '10s',
      heartbeatThread: hasThread === 'a' ? { workerFile } : false,
      observers: [losses],
    });
    const isConnected = async () => (await server.connections()) === connections;
    await using started = await startApplication({
      imports: [module],
      providers: [{ provide: Ticks, useValue: ticks }],
    });
    await until('the job runs', () => started.app.get(Ticks).count > 0);
    await until('every client is connected', isConnected);
    await server.setPassword('second');
    password = 'second';
    await server.cutConnections();
    await until('every client is connected again', isConnected);
    const { count } = ticks;
    await until('the job runs on', () => ticks.count > count);
    expect(losses.reasons).toEqual([]);
  });

  it.each(['Redis', 'PostgreSQL'])('says at once why the function failed on %s', async (store) => {
    await using server = await (store === 'Redis' ? rotatingRedis() : rotatingPostgres(folder));
    await server.setPassword('first');
    let isSealed = false;
    const connection = async () => {
      if (isSealed) throw new Error('Vault is sealed');
      return server.connection('first');
    };
    await using started = await startApplication({
      imports: [SingletonJobModule.forRoot({ projectName: 'myapp', connection })],
      providers: [Ticks],
    });
    await until('the job runs', () => started.app.get(Ticks).count > 0);
    isSealed = true;
    await server.cutConnections();
    await until('the log has the cause', () => started.logger.lines.some((line) => line.includes('Vault is sealed')));
  });
});

/** A server that asks for a password. */
interface RotatingServer extends AsyncDisposable {
  connection(password: string): ConnectionOptions;
  setPassword(password: string): Promise<void>;
  /** How many connections there are, besides its own. */
  connections(): Promise<number>;
  cutConnections(): Promise<void>;
}

async function rotatingRedis(): Promise<RotatingServer> {
  const server = await RedisServer.start();
  const admin = new Redis(server.port);
  const own = await admin.client('ID');
  return {
    connection: (password) => ({ host: '127.0.0.1', port: server.port, password }),
    setPassword: async (password) => {
      await admin.config('SET', 'requirepass', password);
    },
    connections: async () => {
      const clients = String(await admin.client('LIST'))
        .trim()
        .split('\n');
      return clients.filter((client) => !client.includes(`id=${String(own)} `)).length;
    },
    cutConnections: async () => {
      for (const type of ['normal', 'pubsub']) await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
    },
    [Symbol.asyncDispose]: async () => {
      admin.disconnect();
      await server.stop();
    },
  };
}

async function rotatingPostgres(folder: string): Promise<RotatingServer> {
  const rules = join(folder, 'pg_hba.conf');
  await writeFile(rules, 'host all app 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n');
  // the server runs as another user where this process is root
  await chmod(folder, 0o755);
  const server = await PostgresServer.start(['-c', `hba_file=${rules}`]);
  const admin = new Client(server.url);
  await admin.connect();
  await admin.query('CREATE ROLE app LOGIN; GRANT CREATE ON DATABASE postgres TO app');
  const ofRole = "FROM pg_stat_activity WHERE usename = 'app'";
  return {
    connection: (password) => ({
      postgres: { host: '127.0.0.1', port: server.port, user: 'app', database: 'postgres', password },
    }),
    setPassword: async (password) => {
      await admin.query(`ALTER ROLE app PASSWORD '${password}'`);
    },
    connections: async () => (await admin.query(`SELECT ${ofRole}`)).rowCount ?? 0,
    cutConnections: async () => {
      await admin.query(`SELECT pg_terminate_backend(pid) ${ofRole}`);
    },
    [Symbol.asyncDispose]: async () => {
      await admin.end();
      await server.stop();
    },
  };
}
