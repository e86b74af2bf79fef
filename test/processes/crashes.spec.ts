import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type OwnServer } from '../../tools/servers/own-server.js';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';
import { type WorkerEvent, WorkerProcess } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';
import { joinPrograms } from '../../tools/workspace/join-programs.js';
import { ROOT } from '../../tools/workspace/paths.js';

const PROGRAM = join(ROOT, 'test/support/crashing-application.ts');
const THREAD = join(ROOT, 'libs/singleton-job/src/heartbeat-thread/index.ts');
/**
 * No lease ends by itself within this time of a crash: the last heartbeat was 3 s ago at most, and a lease lives 20 s.
 */
const BEFORE_LEASES_END_MS = 15_000;

/**
 * The program and its thread, compiled once: sixteen processes start them, and a thread cannot be started from
 * TypeScript.
 */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(ROOT, '.cache/crashes-'));
  await joinPrograms({ entryPoints: { program: PROGRAM, thread: THREAD }, outdir: folder });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

describe.each(SERVER_KINDS)('When a process with a heartbeat thread crashes, on %s', (kind) => {
  const start = ({ url }: OwnServer, variables: Readonly<Record<string, string>> = {}): Workers => {
    const own = { CONNECTION: url, PROJECT: 'crashes', THREAD: join(folder, 'thread.js'), ...variables };
    const program = join(folder, 'program.js');
    const nodes = ['a', 'b', 'c', 'd'];
    return Workers.of(...nodes.map((node) => new WorkerProcess(node, { NODE: node, ...own }, { program })));
  };
  const startsOf = (processes: Workers): readonly WorkerEvent[] =>
    processes.events.filter(({ event }) => event === 'runStarted');

  it('in mid-run, another one leads long before its lease ends', async () => {
    await using server = await SERVERS[kind]();
    await using processes = start(server);
    await processes.until('all are ready', () => processes.all.every(({ isReady }) => isReady));
    for (const [index, signal] of (['SIGUSR2', 'SIGWINCH', 'SIGURG'] as const).entries()) {
      await processes.until('one runs the job', () => startsOf(processes).length > index, {
        withinMs: BEFORE_LEASES_END_MS,
      });
      const leader = processes.running.find(({ node }) => node === startsOf(processes).at(-1)?.node);
      process.kill(leader?.pid ?? NaN, signal);
      expect(await leader?.exited).toEqual({ code: signal === 'SIGURG' ? 3 : 1, signal: null });
    }
    await processes.until('the last one runs the job', () => startsOf(processes).length === 4, {
      withinMs: BEFORE_LEASES_END_MS,
    });
  });

  it('because of its @WhileLeader method, each further one waits twice as long before it calls the method', async () => {
    await using server = await SERVERS[kind]();
    await using processes = start(server, { IS_POISONED: 'true' });
    await processes.until('all have crashed', () => processes.running.length === 0);
    const times = startsOf(processes).map(({ atMs }) => atMs);
    const [first = 0, second = 0, third = 0] = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    expect(times).toHaveLength(4);
    expect(first).toBeGreaterThanOrEqual(300);
    expect(second).toBeGreaterThanOrEqual(600);
    expect(third).toBeGreaterThanOrEqual(1_200);
    expect(third).toBeLessThan(BEFORE_LEASES_END_MS);
  });
});
