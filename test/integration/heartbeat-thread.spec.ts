import { describe, expect, it } from '@jest/globals';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../tools/replicas/until.js';
import { problemsOf, startApplication } from '../support/nest-application.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { FixedRate, type JobObserver, SingletonJobModule, type SingletonJobOptions } from 'nestjs-singleton-job';

@Injectable()
class Ticks {
  @FixedRate('1h', { name: 'tick' })
  tick(): void {}
}

/** Nothing answers there: start-up never waits for Redis. */
const NOWHERE = 'redis://127.0.0.1:1';
const READY = `import { parentPort } from 'node:worker_threads'; parentPort.postMessage('ready');`;

const program = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);

function start(options: Partial<SingletonJobOptions>, hooks: Partial<OnApplicationBootstrap> = {}) {
  const all = { projectName: 'test', connection: NOWHERE, ...options };
  const providers = [Ticks, { provide: 'hooks', useValue: hooks }];
  return startApplication({ imports: [SingletonJobModule.forRoot(all)], providers });
}

describe('The heartbeat thread', () => {
  it('has started before the jobs begin, and does not wait for Redis', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'started');
    const writes = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(file)}, '');`;
    const workerFile = program(`${writes} ${READY} setInterval(() => {}, 1e3)`);
    let hadStarted: boolean | undefined;
    const beforeTheJobs = { onApplicationBootstrap: () => (hadStarted = existsSync(file)) };
    await using application = await start({ heartbeatThread: { workerFile } }, beforeTheJobs);
    expect(hadStarted).toBe(true);
    expect(application.logger.lines.join('\n')).not.toContain('heartbeat thread');
  });

  it('is not started where no job runs', async () => {
    await using application = await start({ enabled: false, heartbeatThread: { workerFile: './nothing.js' } });
    expect(application.logger.lines.join('\n')).toContain('none runs');
  });

  it.each([
    ['is wrong', program('this is not JavaScript'), /Unexpected identifier/],
    ['throws', program('throw new Error("broken")'), /broken/],
    ['ends at once', program(''), /: it ended with code 0 before it was ready$/],
    [
      'is another',
      program(`${READY.replace('ready', 'steady')} setInterval(() => {}, 1e3)`),
      /: it is another program$/,
    ],
  ])('whose program %s is a mistake in the options', async (_how, workerFile, cause) => {
    const problems = await problemsOf(start({ heartbeatThread: { workerFile } }));
    expect(problems).toEqual([expect.stringMatching(cause)]);
    expect(problems[0]).toContain(`heartbeatThread could not start '${workerFile.href}': `);
    expect(problems[0]).not.toContain('in a bundle');
  });

  it.each([
    ['is missing', './nothing.js', './nothing.js'],
    ['is missing at its URL', new URL('file:///nowhere/thread.mjs'), '/nowhere/thread.mjs'],
  ])('whose program %s says what to do in a bundle', async (_how, workerFile, missing) => {
    const problems = await problemsOf(start({ heartbeatThread: { workerFile } }));
    expect(problems[0]).toContain(`heartbeatThread could not start '${String(workerFile)}': `);
    expect(problems[0]).toContain(missing);
    expect(problems[0]).toMatch(
      /in a bundle, emit nestjs-singleton-job\/heartbeat-thread .* heartbeatThread: { workerFile }$/,
    );
  });

  it.each([
    ['ends later', `throw new Error('out of luck')`, 'out of luck'],
    ['cannot reach Redis', `parentPort.postMessage({ unreachable: 'refused' })`, 'refused'],
  ])('that %s is reported once, and the application continues', async (_how, code, message) => {
    const failed: unknown[] = [];
    const observer: JobObserver = { warning: ({ error }) => failed.push(error) };
    const workerFile = program(`${READY} setTimeout(() => { ${code} }, 20)`);
    await using application = await start({ heartbeatThread: { workerFile }, observers: [observer] });
    await until('it is reported', () => failed.length > 0);
    await application.app.close();
    expect(failed).toMatchObject([{ message }]);
    expect(application.logger.lines.filter((line) => line.includes('has no working heartbeat thread'))).toHaveLength(1);
  });

  it('that ends while the main thread is busy is reported once, or keeps the application from starting', async () => {
    const reported: unknown[] = [];
    const observer: JobObserver = { warning: ({ error }) => reported.push(error) };
    const workerFile = program(`${READY} setTimeout(() => { throw new Error('out of luck') }, 20)`);
    const busy = setInterval(() => {
      for (const endMs = performance.now() + 100; performance.now() < endMs;);
    });
    // it is ready and fails in one pass of the event loop, in any order
    const starting = start({ heartbeatThread: { workerFile }, observers: [observer] });
    const application = await starting.catch((error: unknown) => void reported.push((error as Error).cause));
    clearInterval(busy);
    await until('it is reported', () => reported.length > 0);
    await application?.app.close();
    expect(reported).toMatchObject([{ message: 'out of luck' }]);
  });

  it('gets no connection that cannot be sent to it', async () => {
    let asked = 0;
    const tls = { checkServerIdentity: () => undefined };
    const connection = () => ({ host: '127.0.0.1', port: 1, ...(asked++ > 0 && { tls }) });
    const asks = `setInterval(() => parentPort.postMessage('wants connection'), 10)`;
    await using application = await start({ connection, heartbeatThread: { workerFile: program(`${READY} ${asks}`) } });
    // jest fails this file if a rejection is not handled
    await until('it has asked', () => asked > 5);
    await application.app.close();
  });
});
