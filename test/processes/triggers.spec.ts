import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WorkerProcess } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';
import { type OwnServer } from '../../tools/servers/own-server.js';
import { SERVERS } from '../../tools/servers/servers.js';
import { joinedPrograms } from '../support/joined-programs.js';
import { startApplication } from '../support/nest-application.js';
import { oneForAll } from '../support/use-redis.js';
import { SingletonJobModule, SingletonJobRegistry } from 'nestjs-singleton-job';

/** Of the program. */
const OPTIONS = { projectName: 'triggers', lockExpiry: '4s' } as const;

const fileOf = joinedPrograms({ program: 'test/support/triggered-application.ts' });

describe.each([
  ['Redis', SERVERS.redis],
  ['MariaDB', SERVERS.mysql],
])('Three processes on %s', (_, startServer) => {
  let processes: Workers;
  // before their server ends: Jest calls these in the order of definition
  afterAll(() => processes.kill());
  const server = oneForAll<OwnServer>(startServer);

  const start = (node: string) =>
    new WorkerProcess(node, { NODE: node, CONNECTION: server().url }, { program: fileOf('program') });
  const started = (name: string) =>
    processes.events.filter(({ event, payload }) => event === 'runStarted' && payload?.job === name);
  const leaderOf = (name: string) => {
    const gained = processes.events.filter(
      ({ event, payload }) => event === 'leadershipGained' && payload?.job === name,
    );
    return processes.running.find(({ node }) => node === gained.at(-1)?.node);
  };

  beforeAll(async () => {
    processes = Workers.of(...['a', 'b', 'c'].map(start));
    const isLed = () => ['warm-up', 'report'].every((name) => leaderOf(name) !== undefined);
    await processes.until('both jobs are led', isLed);
  });

  it('run a job of @Once once, also when its leader is killed', async () => {
    await processes.until('it runs', () => started('warm-up').length > 0);
    const leader = leaderOf('warm-up');
    await leader?.kill();
    processes.all.push(start('d'));
    await processes.until('another one leads it', () => leaderOf('warm-up') !== undefined);
    await processes.until('all are ready', () => processes.running.every(({ isReady }) => isReady));
    expect(started('warm-up')).toHaveLength(1);
  });

  it('tell a script how a run that it triggers has ended, and that another one was interrupted', async () => {
    await processes.until('it is led', () => leaderOf('report') !== undefined);
    const leader = leaderOf('report');
    const registration = { name: 'report', schedule: { cron: '0 0 1 1 *' }, run: () => undefined } as const;
    const options = { ...OPTIONS, connection: server().url, enabled: false };
    await using script = await startApplication({ imports: [SingletonJobModule.forRoot(options)] });
    const jobs = script.app.get(SingletonJobRegistry);
    jobs.register(registration);

    const failed = await jobs.trigger('report', { wait: '1m' });
    const by = expect.stringMatching(`^${leader?.node}-`);
    expect(failed).toMatchObject({ started: true, by, outcome: 'failed', error: 'no paper' });
    const call = jobs.trigger('report', { wait: '1m' });
    await processes.until('it runs again', () => started('report').length === 2);
    await leader?.kill();
    expect(await call).toMatchObject({ started: true, by, outcome: 'interrupted', error: null });
  });
});
