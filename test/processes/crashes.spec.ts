import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { type OwnServer, SERVER_KINDS, SERVERS } from '../../tools/replicas/servers.js';
import { type WorkerEvent, WorkerProcess } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';
import { ROOT } from '../../tools/workspace/paths.js';

/** As the build of the worker leaves it: a thread cannot be started from TypeScript. */
const THREAD = join(ROOT, 'dist/apps/worker/libs/singleton-job/src/heartbeat-thread/index.js');
const PROGRAM = join(ROOT, 'test/support/crashing-application.ts');
/** No session ends by itself within this time of a crash: the last heartbeat was 3 s ago at most, and a session lives 20 s. */
const BEFORE_SESSIONS_END_MS = 15_000;

describe.each(SERVER_KINDS)('When a process with a heartbeat thread crashes, on %s', (kind) => {
  let server: OwnServer;

  beforeAll(async () => {
    server = await SERVERS[kind]();
  });

  afterAll(async () => {
    await server.stop();
  });

  const start = (variables: Readonly<Record<string, string>> = {}): Workers =>
    Workers.of(
      ...['a', 'b', 'c', 'd'].map(
        (node) =>
          new WorkerProcess(
            node,
            { NODE: node, CONNECTION: server.url, THREAD, ...variables },
            { program: PROGRAM, execArgv: ['--import', 'tsx'] },
          ),
      ),
    );
  const startsOf = (processes: Workers): readonly WorkerEvent[] =>
    processes.events.filter(({ event }) => event === 'runStarted');

  it('in mid-run, another one leads long before the session ends', async () => {
    await using processes = start();
    await processes.until('all are ready', () => processes.all.every(({ isReady }) => isReady));
    for (const [index, signal] of (['SIGUSR2', 'SIGWINCH', 'SIGURG'] as const).entries()) {
      await processes.until('one runs the job', () => startsOf(processes).length > index, {
        withinMs: BEFORE_SESSIONS_END_MS,
      });
      const leader = processes.running.find(({ node }) => node === startsOf(processes).at(-1)?.node);
      process.kill(leader?.pid ?? NaN, signal);
      expect(await leader?.exited).toEqual({ code: signal === 'SIGURG' ? 3 : 1, signal: null });
    }
    await processes.until('the last one runs the job', () => startsOf(processes).length === 4, {
      withinMs: BEFORE_SESSIONS_END_MS,
    });
  });

  it('because of its @WhileLeader method, each further one waits twice as long before it calls the method', async () => {
    await using processes = start({ IS_POISONED: 'true' });
    await processes.until('all have crashed', () => processes.running.length === 0);
    const times = startsOf(processes).map(({ atMs }) => atMs);
    const [first = 0, second = 0, third = 0] = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    expect(times).toHaveLength(4);
    expect(first).toBeGreaterThanOrEqual(300);
    expect(second).toBeGreaterThanOrEqual(600);
    expect(third).toBeGreaterThanOrEqual(1_200);
    expect(third).toBeLessThan(BEFORE_SESSIONS_END_MS);
  });
});
