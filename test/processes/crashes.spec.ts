import { expect, it } from '@jest/globals';
import { WorkerProcess } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';
import { joinedPrograms } from '../support/joined-programs.js';

/**
 * No lease ends by itself within this time of a crash: the last heartbeat was 3 s ago at most, and a lease lives 20 s.
 */
const BEFORE_LEASES_END_MS = 15_000;

/** Eight processes start them, and a thread cannot be started from TypeScript. */
const fileOf = joinedPrograms({
  program: 'test/support/crashing-application.ts',
  thread: 'libs/singleton-job/src/heartbeat-thread/index.ts',
});

it.each(SERVER_KINDS)(
  'When a process with a heartbeat thread crashes in mid-run, another one leads long before its lease ends, on %s',
  async (kind) => {
    await using server = await SERVERS[kind]();
    const variables = { CONNECTION: server.url, THREAD: fileOf('thread') };
    const start = (node: string) =>
      new WorkerProcess(node, { NODE: node, ...variables }, { program: fileOf('program') });
    await using processes = Workers.of(...['a', 'b', 'c', 'd'].map(start));
    await processes.until('all are ready', () => processes.all.every(({ isReady }) => isReady));
    const starts = () => processes.events.filter(({ event }) => event === 'runStarted');
    const isRun = (times: number) =>
      processes.until('the job runs', () => starts().length === times, { withinMs: BEFORE_LEASES_END_MS });
    for (const [index, signal] of (['SIGUSR2', 'SIGWINCH', 'SIGURG'] as const).entries()) {
      await isRun(index + 1);
      const leader = processes.running.find(({ node }) => node === starts().at(-1)?.node);
      process.kill(leader?.pid ?? NaN, signal);
      expect(await leader?.exited).toEqual({ code: signal === 'SIGURG' ? 3 : 1, signal: null });
    }
    await isRun(4);
  },
);
