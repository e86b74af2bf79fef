import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { type JobRun, SingletonJobModule, SingletonJobRegistry, WhileLeader } from 'nestjs-singleton-job';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';
import { until } from '../../tools/replicas/until.js';
import { startApplication } from '../support/nest-application.js';

/** Lasts until its signal fires. */
async function consume({ signal }: JobRun): Promise<void> {
  await new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}

@Injectable()
class Feed {
  readonly codes: unknown[] = [];
  calls = 0;

  @WhileLeader('order-feed')
  async consume(run: JobRun): Promise<void> {
    this.calls += 1;
    run.signal.addEventListener('abort', () => this.codes.push((run.signal.reason as { readonly code: string }).code));
    await consume(run);
  }
}

describe.each(SERVER_KINDS)('A @WhileLeader job on %s', (kind) => {
  it('moves to another replica when its application stops, and by stepDown()', async () => {
    await using server = await SERVERS[kind]();
    const start = () =>
      startApplication({
        imports: [SingletonJobModule.forRoot({ projectName: 'shop', connection: server.url })],
        providers: [Feed],
      });
    await using first = await start();
    const feed = first.app.get(Feed);
    await until('the first replica consumes', () => feed.calls === 1);
    await using second = await start();
    const other = second.app.get(Feed);
    const registry = second.app.get(SingletonJobRegistry);
    await until('the second one follows', () => registry.get('order-feed').leader !== null);

    expect(await registry.stepDown('order-feed')).toMatchObject({ steppedDown: true });
    await until('the second one consumes', () => other.calls === 1);
    expect([feed.calls, feed.codes]).toEqual([1, ['STEPPED_DOWN']]);

    await second.app.close();
    await until('the first one consumes again', () => feed.calls === 2);
    expect([other.calls, other.codes]).toEqual([1, ['SHUTDOWN']]);
  });

  it('can be registered', async () => {
    await using server = await SERVERS[kind]();
    await using started = await startApplication({
      imports: [SingletonJobModule.forRoot({ projectName: 'shop', connection: server.url })],
    });
    const registry = started.app.get(SingletonJobRegistry);
    let calls = 0;
    registry.register({
      name: 'order-feed',
      schedule: { whileLeader: true, restartDelay: '10ms' },
      run: () => {
        calls += 1;
      },
    });
    await until('it is called again after it has returned', () => calls > 2);
    expect(registry.get('order-feed')).toMatchObject({ kind: 'while-leader', role: 'leader' });
  });
});
