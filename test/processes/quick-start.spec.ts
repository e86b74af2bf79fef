import { afterEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIST, ROOT } from '../../tools/workspace/paths.js';
import { useRedisServer } from '../support/use-redis.js';
import { SERVERS } from '../../tools/servers/servers.js';
import { until } from '../../tools/replicas/until.js';

const redis = useRedisServer();

/**
 * The log in README's quick start: of the leader, and the line of the follower. Numbers, times, names of replicas and
 * the server may differ.
 */
function logInReadme(): { readonly leader: readonly RegExp[]; readonly follower: RegExp } {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const [, log = ''] = /^```text\n(\[[^]*?)^```$/m.exec(readme) ?? [];
  const [, follows = ''] = /^The second one logs `(.*?)`/m.exec(readme) ?? [];
  const toPattern = (line: string): RegExp =>
    new RegExp(
      line
        .replaceAll(/[()[\].]/g, '\\$&')
        .replaceAll('web-1-3b0ab314', '[\\w.-]+')
        .replaceAll('localhost:6379', '[\\w.:-]+')
        .replaceAll(/\d{4,}\S*\d/g, '[\\d:.TZ-]+'),
    );
  return { leader: log.trimEnd().split('\n').map(toPattern), follower: toPattern(follows) };
}

/** The variables that the page of the options shows. */
function variablesInOptionsPage(): NodeJS.ProcessEnv {
  const page = readFileSync(join(ROOT, 'docs/options.md'), 'utf8');
  const lines = page.matchAll(/^(SINGLETON_JOB_\w+)="?(.*?)"?$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

/** A program of `apps/minimal` as one process. */
class Replica {
  output = '';
  readonly #child: ChildProcess;

  constructor(program: 'main' | 'from-environment', env: NodeJS.ProcessEnv) {
    this.#child = spawn(process.execPath, [join(DIST, 'apps/minimal/apps/minimal/src', `${program}.js`)], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString('utf8')));
    }
  }

  async logged(line: RegExp): Promise<void> {
    await until(`it logs ${String(line)}`, () => line.test(this.output));
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
  const start = (...parts: ConstructorParameters<typeof Replica>): Replica => {
    const replica = new Replica(...parts);
    replicas.push(replica);
    return replica;
  };
  afterEach(async () => {
    for (const replica of replicas.splice(0)) await replica.stop('SIGKILL');
  });

  it('logs the lines of the README on the leader and on the follower', async () => {
    const { leader: lines, follower: follows } = logInReadme();
    expect(lines).toHaveLength(4);
    const env = { REDIS_URL: redis().url };
    const leader = start('main', env);
    for (const line of lines) await leader.logged(line);
    const follower = start('main', env);
    await follower.logged(follows);
    expect(lines.filter((line) => line.test(follower.output))).toEqual(lines.slice(0, 1));
    expect(leader.output).not.toMatch(/follows|WARN/);
    await leader.stop('SIGTERM');
    expect(leader.output).toContain('released leadership (shutdown');
  });

  it.each([
    ['main', (url: string) => ({ DATABASE_URL: url })],
    [
      'from-environment',
      (url: string) => ({
        SINGLETON_JOB_PROJECT_NAME: 'shop',
        SINGLETON_JOB_CONNECTION: url,
        SINGLETON_JOB_HEARTBEAT_THREAD: 'true',
      }),
    ],
  ] as const)('leads on a PostgreSQL: %s', async (program, variables) => {
    await using postgres = await SERVERS.postgres();
    const leader = start(program, variables(postgres.url));
    await leader.logged(/\[shop:price-tick\] became LEADER/);
    await leader.logged(/updated the prices/);
    await leader.stop('SIGTERM');
    expect(leader.output).toContain('released leadership (shutdown');
  });

  it('starts with all variables that the page of the options shows', async () => {
    const variables = variablesInOptionsPage();
    expect(Object.keys(variables).length).toBeGreaterThan(4);
    const replica = start('from-environment', { ...variables, SINGLETON_JOB_CONNECTION: redis().url });
    await replica.logged(/daily-report 0 4 \* \* \* UTC/);
    await replica.logged(/\[shop:daily-report\] became LEADER/);
    expect(replica.output).not.toMatch(/price-tick\] became LEADER/);
  });
});
