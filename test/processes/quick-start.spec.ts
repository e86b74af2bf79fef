import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../tools/workspace/paths.js';
import { useRedisServer } from '../../tools/replicas/redis/use-redis.js';
import { until } from '../../tools/replicas/until.js';

const redis = useRedisServer();

/** The log in README's quick start, each line up to its first number. */
function logInReadme(): string[] {
  const [, log = ''] = /^```\n(\[[^]*?)^```$/m.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? [];
  return log
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\d.*$/, ''));
}

/** `apps/minimal`, which is README's quick start, as one process. */
class Replica {
  output = '';
  readonly #child: ChildProcess;

  constructor(url: string) {
    this.#child = spawn(process.execPath, ['--import', 'tsx', 'apps/minimal/src/main.ts'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], NO_COLOR: '1', REDIS_URL: url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    }
  }

  async logged(line: string): Promise<void> {
    await until(`it logs "${line}"`, () => this.output.includes(line));
  }

  async stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill(signal);
    await exited;
  }
}

describe('the quick start of the README', () => {
  const replicas: Replica[] = [];
  const start = (): Replica => {
    const replica = new Replica(redis().url);
    replicas.push(replica);
    return replica;
  };
  afterEach(async () => {
    for (const replica of replicas.splice(0)) await replica.stop('SIGKILL');
  });

  it('logs what the README shows on the leader, and only the first line on the other replica', async () => {
    const [leader, lines] = [start(), logInReadme()];
    expect(lines).toHaveLength(4);
    for (const line of lines) await leader.logged(line);
    const follower = start();
    await follower.logged(lines[0] ?? '');
    expect(lines.filter((line) => follower.output.includes(line))).toEqual(lines.slice(0, 1));
    await leader.stop('SIGTERM');
    expect(leader.output).toContain('released leadership (shutdown');
  });
});
