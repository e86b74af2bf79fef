import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkerProcess } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';
import { joinPrograms } from '../../tools/workspace/join-programs.js';
import { ROOT } from '../../tools/workspace/paths.js';

const PROGRAM = join(ROOT, 'test/support/crashing-application.ts');
const THREAD = join(ROOT, 'libs/singleton-job/src/heartbeat-thread/index.ts');
/**
 * No lease ends by itself within this time of a crash: the last heartbeat was 3 s ago at most, and a lease lives 20 s.
 */
const BEFORE_LEASES_END_MS = 15_000;

/**
 * The program and its thread, compiled once: eight processes start them, and a thread cannot be started from
 * TypeScript.
 */
let folder: string;

beforeAll(async () => {
  // the programs find their packages from there
  const cache = join(ROOT, '.cache');
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, 'crashes-'));
  await joinPrograms({ entryPoints: { program: PROGRAM, thread: THREAD }, outdir: folder });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

it.each(SERVER_KINDS)(
  'When a process with a heartbeat thread crashes in mid-run, another one leads long before its lease ends, on %s',
  async (kind) => {
    await using server = await SERVERS[kind]();
    const variables = { CONNECTION: server.url, THREAD: join(folder, 'thread.js') };
    const program = join(folder, 'program.js');
    const start = (node: string) => new WorkerProcess(node, { NODE: node, ...variables }, { program });
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
