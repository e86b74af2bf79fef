import { afterEach, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { until } from '../../tools/replicas/until.js';
import { WorkerProcess, type WorkerVariables } from '../../tools/replicas/worker-process.js';
import { type OwnServer } from '../../tools/servers/own-server.js';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';
import { DIST, ROOT } from '../../tools/workspace/paths.js';

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
        .replaceAll(/sqlite:\S+db/g, '\\S+')
        .replaceAll(/\d{4,}\S*\d/g, '[\\d:.TZ-]+'),
    );
  return { leader: log.trimEnd().split('\n').map(toPattern), follower: toPattern(follows) };
}

/** The variables that the page of the options shows. */
function variablesInOptionsPage(): WorkerVariables {
  const page = readFileSync(join(ROOT, 'docs/options.md'), 'utf8');
  const lines = page.matchAll(/^(SINGLETON_JOB_\w+)="?(.*?)"?$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

/** As under FIPS. */
const WITHOUT_MD5 = `import crypto from 'node:crypto';
  import { syncBuiltinESMExports } from 'node:module';
  const { createHash } = crypto;
  crypto.createHash = (name, options) => {
    if (/md5/i.test(name)) throw new Error('unsupported');
    return createHash(name, options);
  };
  syncBuiltinESMExports();`;

/** How many the library has, by the query of the page about ORMs. */
async function connectionsOf({ url }: OwnServer): Promise<number> {
  const page = readFileSync(join(ROOT, 'docs/production/orms.md'), 'utf8');
  const [, query = ''] = /`(SELECT count[^`]*)`/.exec(page) ?? [];
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query<{ readonly count: string }>(query);
  await client.end();
  return Number(rows[0]?.count);
}

const printed = ({ lines }: WorkerProcess): string => lines.map(({ text }) => text).join('\n');
const logged = (replica: WorkerProcess, line: RegExp): Promise<unknown> =>
  until(`it logs ${String(line)}`, () => line.test(printed(replica)), { details: () => printed(replica) });

describe('the quick start of the README', () => {
  const replicas: WorkerProcess[] = [];
  /** A program of `apps/minimal` as one process. */
  const start = (program: 'main' | 'from-environment', variables: WorkerVariables): WorkerProcess => {
    const file = join(DIST, 'apps/minimal/apps/minimal/src', `${program}.js`);
    const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(WITHOUT_MD5)}`];
    const replica = new WorkerProcess('web', { NO_COLOR: '1', ...variables }, { program: file, execArgv });
    replicas.push(replica);
    return replica;
  };
  afterEach(async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.kill()));
  });

  it.each(SERVER_KINDS)('logs the lines of the README on the leader and on the follower: %s', async (kind) => {
    await using server = await SERVERS[kind]();
    const { leader: lines, follower: follows } = logInReadme();
    expect(lines).toHaveLength(4);
    const env = { [kind === 'redis' ? 'REDIS_URL' : 'DATABASE_URL']: server.url };
    const leader = start('main', env);
    for (const line of lines) await logged(leader, line);
    const follower = start('main', env);
    await logged(follower, follows);
    expect(lines.filter((line) => line.test(printed(follower)))).toEqual(lines.slice(0, 1));
    // a WorkerProcess always has the variable of its node
    expect(printed(leader)).not.toMatch(/follows|WARN(?!.*SINGLETON_JOB_NODE_ID)/);
    await leader.stop();
    expect(printed(leader)).toContain('released leadership (shutdown');
  });

  it.each([
    // as Prisma has it
    ['main', 2, (url: string) => ({ DATABASE_URL: `${url}?schema=public&connection_limit=5` })],
    [
      'from-environment',
      3,
      (url: string) => ({
        SINGLETON_JOB_PROJECT_NAME: 'shop',
        SINGLETON_JOB_CONNECTION: url,
        SINGLETON_JOB_HEARTBEAT_THREAD: 'true',
      }),
    ],
  ] as const)(
    'leads on a PostgreSQL, also where md5 is not permitted: %s, with %i connections',
    async (program, connections, variables) => {
      await using postgres = await SERVERS.postgres();
      const leader = start(program, variables(postgres.url));
      await logged(leader, /\[shop:price-tick\] became LEADER/);
      await logged(leader, /updated the prices/);
      await until(`it has ${connections} connections`, async () => (await connectionsOf(postgres)) === connections);
      await leader.stop();
      expect(printed(leader)).toContain('released leadership (shutdown');
    },
  );

  it('starts with all variables that the page of the options shows', async () => {
    await using redis = await SERVERS.redis();
    const variables = variablesInOptionsPage();
    expect(Object.keys(variables).length).toBeGreaterThan(4);
    const replica = start('from-environment', { ...variables, SINGLETON_JOB_CONNECTION: redis.url });
    await logged(replica, /daily-report 0 4 \* \* \* UTC/);
    await logged(replica, /\[shop:daily-report\] became LEADER/);
    expect(printed(replica)).not.toMatch(/price-tick\] became LEADER/);
  });
});
