import { describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../tools/replicas/until.js';
import { ROOT } from '../../tools/workspace/paths.js';

/** The demo as a shell starts it: in a process group of its own, with its output in a pipe. */
class Demo implements AsyncDisposable {
  output = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(
    private readonly tmp: string,
    flags: readonly string[],
  ) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', 'tools/demo/main.ts', ...flags], {
      cwd: ROOT,
      env: { ...process.env, FORCE_COLOR: undefined, TMPDIR: tmp },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    this.#ended = once(this.#child, 'close');
  }

  static async start(...flags: readonly string[]): Promise<Demo> {
    const tmp = await mkdtemp(join(tmpdir(), 'demo-spec-'));
    // a server that refuses to run as root finds its folder in it
    await chmod(tmp, 0o711);
    return new Demo(tmp, flags);
  }

  printed(pattern: RegExp): Promise<void> {
    return until(String(pattern), () => pattern.test(this.output), { details: () => this.output });
  }

  /** A terminal sends a Ctrl-C to all processes of the group. */
  pressCtrlC(): void {
    this.#signalGroup('SIGINT');
  }

  /** Resolves with the exit code once no process and no server of the demo is left. */
  async exitCode(): Promise<number | null> {
    await this.#ended;
    await until('its processes are gone', () => !this.#signalGroup(0));
    // a server that still runs has its folder
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

describe('the demo', () => {
  it.concurrent.each(['--redis', '--postgres'])(
    'stops a leader, kills the next one, and shows who leads then: %s',
    async (flag) => {
      await using demo = await Demo.start(flag);
      expect([await demo.exitCode(), demo.output]).toEqual([
        0,
        expect.stringContaining('No two runs of a job overlapped'),
      ]);
      expect(demo.output).toMatch(
        /(\w) is stopped[^]* price-tick +\1 gives the lead back\n[^]* price-tick +\w leads, token \d+/,
      );
      expect(demo.output).toMatch(/(\w) is killed[^]* \1 is gone\n[^]* price-tick +\w leads, token \d+/);
      expect(demo.output.match(/^ \w led price-tick \d+ ms after /gm)).toHaveLength(2);
      expect(demo.output).not.toContain('\u001b');
    },
  );

  it.concurrent('stops its replicas and its server on Ctrl-C', async () => {
    await using demo = await Demo.start();
    await demo.printed(/price-tick +runs on/);
    demo.pressCtrlC();
    expect(await demo.exitCode()).toBe(130);
    expect(demo.output).toContain('ended by SIGINT');
  });
});
