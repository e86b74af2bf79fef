import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { build } from 'esbuild';
import { Redis } from 'ioredis';
import { FixedRate, type JobEvents, type JobObserver, SingletonJobModule } from 'nestjs-singleton-job';
import { RedisServer } from '../../tools/replicas/redis/index.js';
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
    ['no heartbeat thread', false, 2],
    ['a heartbeat thread', true, 3],
  ])('costs no lead, with %s', async (_name, hasThread, connections) => {
    await using server = await RedisServer.start();
    const admin = new Redis(server.port);
    let password = 'first';
    await admin.config('SET', 'requirepass', password);
    const [ticks, losses] = [new Ticks(), new Losses()];
    const module = SingletonJobModule.forRoot({
      projectName: 'myapp',
      connection: async () => ({ host: '127.0.0.1', port: server.port, password }),
      // a busy machine reconnects within it
      lockExpiry: '10s',
      heartbeatThread: hasThread ? { workerFile } : false,
      observers: [losses],
    });
    const isConnected = async () => {
      const clients = String(await admin.client('LIST'))
        .trim()
        .split('\n');
      return clients.filter((client) => !client.includes(`id=${String(own)} `)).length === connections;
    };
    const own = await admin.client('ID');
    try {
      await using started = await startApplication({
        imports: [module],
        providers: [{ provide: Ticks, useValue: ticks }],
      });
      await until('the job runs', () => started.app.get(Ticks).count > 0);
      await until('every client is connected', isConnected);
      password = 'second';
      await admin.config('SET', 'requirepass', password);
      for (const type of ['normal', 'pubsub']) await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
      await until('every client is connected again', isConnected);
      const { count } = ticks;
      await until('the job runs on', () => ticks.count > count);
      expect(losses.reasons).toEqual([]);
    } finally {
      admin.disconnect();
    }
  });
});
