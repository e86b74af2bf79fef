import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { ROOT } from '../../tools/workspace/paths.js';

/** Three times what it takes, without the building of the worker before it. */
const SHOW_LIMIT_MS = 60_000;

/** The demo, started as a shell starts it: in a process group of its own, with its output in a pipe. */
class Demo implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #tmp: string;
  /** What it took since the worker was built. */
  readonly ended: Promise<{ code: number | null; tookMs: number }>;
  output = '';

  private constructor(args: readonly string[], env: NodeJS.ProcessEnv, tmp: string) {
    this.#tmp = tmp;
    // not by the command of tsx: it kills whoever has not answered a Ctrl-C within 60 ms
    this.#child = spawn(process.execPath, ['--import', 'tsx', 'tools/demo/main.ts', ...args], {
      cwd: ROOT,
      env: { ...process.env, REDIS_URL: '', FORCE_COLOR: undefined, TMPDIR: tmp, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let builtAt = performance.now();
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        if (!this.output.includes('Redis: ')) builtAt = performance.now();
        this.output += chunk.toString('utf8');
      });
    }
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code) => {
        resolve({ code, tookMs: performance.now() - builtAt });
      });
    });
  }

  static async start(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Demo> {
    return new Demo(args, env, await mkdtemp(join(tmpdir(), 'demo-spec-')));
  }

  /** Resolves with the first match in what it has printed; rejects when it ends without one. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match !== null) return match;
      if (this.#child.exitCode !== null) throw new Error(`the demo ended without ${String(pattern)}:\n${this.output}`);
      await delay(20);
    }
  }

  /** A terminal sends a Ctrl-C to all processes of the group. */
  pressCtrlC(): void {
    this.#signalGroup('SIGINT');
  }

  /** What it has left behind for good: processes of its group, a Redis, files. */
  async leftovers(): Promise<string[]> {
    // the compiler behind tsx notices a moment later that tsx is gone
    for (let tries = 0; tries < 500 && this.#signalGroup(0); tries++) await delay(20);
    const files = (await readdir(this.#tmp)).filter((name) => name.startsWith('singleton-job'));
    const port = Number(/redis:\/\/127\.0\.0\.1:(\d+)/.exec(this.output)?.[1]);
    const servers = Number.isInteger(port) && (await isListening(port)) ? [`a Redis on port ${String(port)}`] : [];
    return [...(this.#signalGroup(0) ? ['a process'] : []), ...servers, ...files];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signalGroup('SIGKILL');
    await this.ended;
    await rm(this.#tmp, { recursive: true, force: true });
  }

  /** False where the group has no process any more. */
  #signalGroup(signal: NodeJS.Signals | 0): boolean {
    if (this.#child.pid === undefined) return false;
    try {
      return process.kill(-this.#child.pid, signal);
    } catch {
      return false;
    }
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}

describe('the demo', () => {
  const opened: AsyncDisposable[] = [];
  const keep = <T extends AsyncDisposable>(resource: T): T => {
    opened.push(resource);
    return resource;
  };
  afterEach(async () => {
    for (const resource of opened.splice(0).reverse()) await resource[Symbol.asyncDispose]();
  });

  it('stops a leader, kills the next, shows that nothing overlapped, and leaves nothing behind', async () => {
    const demo = keep(await Demo.start());
    const { code, tookMs } = await demo.ended;
    const rows = [...demo.output.matchAll(/^ (\S+) +([ABC](?: → [ABC])+) +(\S+ m?s|–) +(\S+ m?s|–)((?: +\d+){3})$/gm)];
    const ticks = rows.find(([, job]) => job === 'price-tick');
    const overlapping = rows.map(([, job, , , , counts = '']) => [job, Number(counts.trim().split(/ +/)[2])]);
    expect({ code, overlapping, output: demo.output }).toEqual({
      code: 0,
      overlapping: [
        ['heartbeat', 0],
        ['price-tick', 0],
        ['daily-report', 0],
      ],
      output: expect.stringContaining('No two runs of a job overlapped'),
    });
    // the job whose leader is stopped and killed has three leaders, and a time for each hand-over
    // or more: a busy machine may cost a leader its short lease
    expect(ticks?.[2]).toMatch(/^\w → \w → \w( → \w)*$/);
    expect(ticks?.slice(3, 5)).toEqual([expect.stringMatching(/ ms$/), expect.stringMatching(/ m?s$/)]);
    expect(demo.output).not.toContain('\u001b');
    expect(await demo.leftovers()).toEqual([]);
    expect(tookMs).toBeLessThan(SHOW_LIMIT_MS);
  });

  it('ends its replicas and its Redis on Ctrl-C', async () => {
    const demo = keep(await Demo.start());
    await demo.printed(/price-tick +runs on/);
    demo.pressCtrlC();
    expect((await demo.ended).code).toBe(130);
    expect(demo.output).toContain('ended by SIGINT');
    expect(await demo.leftovers()).toEqual([]);
  });

  it('goes on with --watch, brings a replica back that was killed by hand, and leaves a borrowed Redis as it was', async () => {
    const server = keep(await RedisServer.start());
    const client = new Redis(server.url);
    keep({
      [Symbol.asyncDispose]: async () => {
        client.disconnect();
      },
    });
    await client.set('a stranger', 'was here before');

    const demo = keep(await Demo.start(['--watch'], { REDIS_URL: server.url }));
    const [, name = '', pid] = await demo.printed(/^ ([ABC]) .*kill -9 (\d+)$/m);
    expect(await client.keys('*price-tick*')).not.toEqual([]);
    process.kill(Number(pid), 'SIGKILL');
    await demo.printed(new RegExp(`Your turn[^]*${name} is gone[^]*${name} is there`));
    demo.pressCtrlC();

    expect((await demo.ended).code).toBe(0);
    expect(demo.output).toContain('No two runs of a job overlapped');
    expect(await demo.leftovers()).toEqual([]);
    expect(await client.keys('*')).toEqual(['a stranger']);
  });
});
