import { expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { build } from 'esbuild';
import { Redis } from 'ioredis';
import { join } from 'node:path';
import { until } from '../../tools/replicas/until.js';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { ROOT } from '../../tools/workspace/paths.js';
import { startDisabled } from '../support/nest-application.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { FixedRate, type SingletonJobOptions } from 'nestjs-singleton-job';

@Injectable()
class Ticks {
  count = 0;

  @FixedRate('50ms', { name: 'tick' })
  tick(): void {
    this.count += 1;
  }
}

it('In a bundle, the heartbeat thread gets each new password, so that a change costs no lead', async () => {
  await using folder = await temporaryFolder();
  const workerFile = join(folder.path, 'thread.cjs');
  const entryPoints = [join(ROOT, 'libs/singleton-job/src/heartbeat-thread/index.ts')];
  await build({ entryPoints, outfile: workerFile, bundle: true, platform: 'node' });
  await using server = await RedisServer.start();
  const admin = new Redis(server.url);
  let password = 'first';
  const setPassword = () => admin.call('ACL', 'SETUSER', 'app', 'on', 'resetpass', `>${password}`, '~*', '&*', '+@all');
  await setPassword();
  const lost: string[] = [];
  const options: SingletonJobOptions = {
    projectName: 'shop',
    enabled: true,
    connection: async () => ({ host: '127.0.0.1', port: server.port, username: 'app', password }),
    heartbeatThread: { workerFile },
    observers: [{ leadershipLost: ({ reason }) => lost.push(reason) }],
  };
  // only a client that has authenticated is one of the user
  const areConnected = async () => String(await admin.client('LIST')).split('user=app ').length === 1 + 3;
  {
    await using application = await startDisabled({ providers: [Ticks] }, options);
    const { app } = application;
    await until('requests, hints and the thread are connected', areConnected);
    await until('the job runs', () => app.get(Ticks).count > 0);
    password = 'second';
    await setPassword();
    await admin.call('CLIENT', 'KILL', 'USER', 'app');
    await until('all are connected again', areConnected);
    const { count } = app.get(Ticks);
    await until('the job runs on', () => app.get(Ticks).count > count);
  }
  expect(lost).toEqual([]);
  admin.disconnect();
});
