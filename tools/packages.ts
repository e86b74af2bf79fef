import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresServer } from './servers/postgres-server.js';
import { provideRedis } from './servers/provide-redis.js';
import { npm, tool } from './workspace/command.js';
import { ROOT } from './workspace/paths.js';

/**
 * `npm run test:packages [-- <name>…]`: the packed tarball in applications of strangers, outside the checkout. The
 * scripts of their manifests type-check, build, run on a real Redis and a real PostgreSQL, test, and bundle them. It
 * stops at the first that fails.
 */
const APPS = join(ROOT, 'test/packages/apps');
const NAMES = ['nest-11-cjs', 'nest-11-esm', 'nest-12-cjs', 'nest-12-esm'];

/** The samples of docs/testing.md, which are the application's own tests as well. */
const SAMPLES = join(ROOT, 'test/integration/testing-samples');
const SAMPLE_FILES = ['prices.ts', 'fakes.ts', 'method.spec.ts', 'schedule.spec.ts', 'failover.spec.ts'];

/** Nest 12 is made of ES modules only, and Jest loads those from CommonJS tests since Node 24.9. */
const canJestRequireModules = process.versions.node.localeCompare('24.9.0', undefined, { numeric: true }) >= 0;

/** In the order in which they build on each other. Not every application has all. */
const SCRIPTS = [
  ...['build', 'load', 'without-peers', 'start', 'stop-order', 'test', 'bundle'],
  ...(canJestRequireModules ? ['test:required-modules'] : []),
  // elsewhere it would have to be signed
  ...(process.platform === 'linux' ? ['executable'] : []),
];

const wanted = process.argv.length > 2 ? process.argv.slice(2) : NAMES;
const tarball = join(ROOT, (await tool('pack.ts')).trim().split('\n').at(-1) ?? '');
await using redis = await provideRedis();
await using postgres = await PostgresServer.start();
for (const name of wanted) await check(name);

async function check(name: string): Promise<void> {
  // the folder above the application, where its bundles go, has no node_modules
  const folder = await mkdtemp(join(tmpdir(), `singleton-job-${name}-`));
  const cwd = join(folder, 'app');
  const env = { NODE_ENV: undefined, NODE_OPTIONS: undefined, STORE_URL: redis.url };
  const options = { cwd, env, isShown: true };
  try {
    for (const source of [name, 'shared']) await cp(join(APPS, source), cwd, { recursive: true });
    for (const file of SAMPLE_FILES) await cp(join(SAMPLES, file), join(cwd, 'src/samples', file));
    // its own locked dependencies first, then the tarball on top, as `npm install <tarball>` does
    await npm(['ci', '--prefer-offline'], options);
    await npm(['install', '--no-save', '--prefer-offline', tarball], options);
    for (const script of SCRIPTS) await npm(['run', '--if-present', script], options);
    await npm(['start'], { ...options, env: { ...env, STORE_URL: postgres.url } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
