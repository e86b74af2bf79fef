import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { RedisServer } from '../../tools/replicas/redis/index.js';
import { until } from '../../tools/replicas/until.js';
import { ROOT } from '../../tools/workspace/paths.js';

/** The demo as a shell starts it: in a process group of its own, with its output in a pipe. */
class Demo implements AsyncDisposable {
  output = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(
    private readonly tmp: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', 'tools/demo/main.ts', ...args], {
      cwd: ROOT,
      env: { ...process.env, REDIS_URL: '', FORCE_COLOR: undefined, TMPDIR: tmp, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    this.#ended = once(this.#child, 'close');
  }

  static async start(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Demo> {
    return new Demo(await mkdtemp(join(tmpdir(), 'demo-spec-')), args, env);
  }

  /** Resolves with the first match in the output so far. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    await until(String(pattern), () => pattern.test(this.output), { details: () => this.output });
    return pattern.exec(this.output) as RegExpExecArray;
  }

  /** A terminal sends a Ctrl-C to all processes of the group. */
  pressCtrlC(): void {
    this.#signalGroup('SIGINT');
  }

  /** Resolves with the exit code once no process and no Redis of the demo is left. */
  async exitCode(): Promise<number | null> {
    await this.#ended;
    await until('its processes are gone', () => !this.#signalGroup(0));
    // a Redis that still runs has its folder
    expect((await readdir(this.tmp)).filter((name) => name.startsWith('singleton-job'))).toEqual([]);
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signalGroup('SIGKILL');
    await this.#ended;
    await rm(this.tmp, { recursive: true, force: true });
  }

  /** False if the group has no process. */
  #signalGroup(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-(this.#child.pid ?? NaN), signal);
    } catch {
      return false;
    }
  }
}

/** The rows of the table, made from the lines of the timeline above it. */
function rowsOf(timeline: string): unknown[] {
  return ['heartbeat', 'price-tick', 'daily-report'].map((job) => {
    const lines = timeline.split('\n').filter((line) => line.includes(`  ${job}  `));
    const leaders = lines.flatMap((line) => / (\w) leads, token/.exec(line)?.[1] ?? []);
    const count = (words: string): number => lines.filter((line) => line.includes(words)).length;
    return [job, leaders.join(' → '), count(' runs on '), count(' tick dropped, '), 0];
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

  it('stops a leader, kills the next one, and prints a summary', async () => {
    const demo = keep(await Demo.start());
    expect([await demo.exitCode(), demo.output]).toEqual([
      0,
      expect.stringContaining('No two runs of a job overlapped'),
    ]);
    const [timeline = '', table = ''] = demo.output.split('overlapping\n');
    const rows = [...table.matchAll(/^ (\S+) +(\w(?: → \w)*) +(\S+ m?s|–) +(\S+ m?s|–) +(\d+) +(\d+) +(\d+)$/gm)];
    expect(rows.map(([, job, leaders, , , ...counts]) => [job, leaders, ...counts.map(Number)])).toEqual(
      rowsOf(timeline),
    );
    // the job whose leader is stopped and killed
    expect(rows[1]?.slice(2, 5)).toEqual([
      expect.stringMatching(/^\w → \w → \w/),
      expect.stringMatching(/ m?s$/),
      expect.stringMatching(/ m?s$/),
    ]);
    expect(demo.output).not.toContain('\u001b');
  });

  it('stops its replicas and its Redis on Ctrl-C', async () => {
    const demo = keep(await Demo.start());
    await demo.printed(/price-tick +runs on/);
    demo.pressCtrlC();
    expect(await demo.exitCode()).toBe(130);
    expect(demo.output).toContain('ended by SIGINT');
  });

  it('restarts replicas with --watch, and removes only its own keys from Redis', async () => {
    const server = keep(await RedisServer.start());
    const client = new Redis(server.url);
    keep({
      [Symbol.asyncDispose]: async () => {
        client.disconnect();
      },
    });
    await client.set('a stranger', 'was here before');

    const demo = keep(await Demo.start(['--watch'], { REDIS_URL: server.url }));
    const [, node = '', pid] = await demo.printed(/^ ([ABC]) .*kill -9 (\d+)$/m);
    expect(await client.keys('*price-tick*')).not.toEqual([]);
    process.kill(Number(pid), 'SIGKILL');
    await demo.printed(new RegExp(`Your turn[^]*${node} is gone[^]*${node} is there`));
    demo.pressCtrlC();

    expect(await demo.exitCode()).toBe(0);
    expect(demo.output).toContain('No two runs of a job overlapped');
    expect(await client.keys('*')).toEqual(['a stranger']);
  });
});
