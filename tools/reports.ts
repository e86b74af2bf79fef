import { Redis } from 'ioredis';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { provideRedis } from './servers/provide-redis.js';
import { findRedis } from './servers/redis-server.js';
import { node, npm, tool } from './workspace/command.js';
import { joinPrograms } from './workspace/join-programs.js';
import { ROOT } from './workspace/paths.js';
import { unlessFresh } from './workspace/unless-fresh.js';

/**
 * `npm run reports`: apps/reports with two web replicas and two workers, and a Redis if REDIS_URL names none.
 * `npm run reports -- test`: its tests; `--without browser` leaves out the test of its page in Chromium.
 */
const APP = join(ROOT, 'apps/reports');
const IN_APP = { cwd: APP, isShown: true };
const OPERATOR_TOKEN = 'token-of-the-operator-of-the-sample';
const USERS = [
  { name: 'ada', token: 'token-of-ada-for-the-sample' },
  { name: 'bob', token: 'token-of-bob-for-the-sample' },
];

const { values, positionals } = parseArgs({ options: { without: { type: 'string' } }, allowPositionals: true });
await build();
if (positionals[0] === 'test') await test();
else await start();

/**
 * Installs the library as it would be published, and compiles the application. The first time takes a minute or two.
 */
async function build(): Promise<void> {
  const manifest = 'apps/reports/package-lock.json';
  await unlessFresh('apps/reports/node_modules/.package-lock.json', ['libs/singleton-job', manifest], async () => {
    console.log('packs the library, and installs apps/reports with it …');
    await tool('pack.ts');
    await npm(['ci'], IN_APP);
  });
  await npm(['run', 'build'], IN_APP);
}

async function test(): Promise<void> {
  // the root is linted without this package, whose dependencies a fresh clone does not have
  const lint = ['apps/reports', '--max-warnings', '0'];
  await node('eslint/bin/eslint.js', lint, { env: { LINT_REPORTS: 'yes' }, isShown: true });
  const outdir = join(APP, 'dist/joined');
  await joinPrograms({
    entryPoints: ['src/web.js', 'src/worker.js', 'test/support/program.js'].map((file) => join(APP, 'dist', file)),
    outbase: join(APP, 'dist'),
    outdir,
    // the controller of the page reads it from beside its own file
    define: { 'import.meta.dirname': JSON.stringify(join(APP, 'dist/src/page')) },
  });
  const redis = await findRedis();
  const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  const env = { ...redis.env, REDIS_SERVER_BINARY: redis.path, PROGRAMS: outdir, CHROMIUM };
  await npm(['test'], { ...IN_APP, env });
  if (values.without !== 'browser') await npm(['run', 'test:browser'], { ...IN_APP, env });
}

/** Runs until Ctrl-C, which the terminal sends to the programs as well. */
async function start(): Promise<void> {
  await using redis = await provideRedis();
  // a borrowed Redis may have data already
  if (process.env['REDIS_URL'] === undefined) await addHistory(redis.url);
  const env = { USERS: JSON.stringify(USERS), OPERATOR_TOKEN, ...process.env, REDIS_URL: redis.url };
  const programs = ['web-1', 'web-2', 'worker-1', 'worker-2'].map((id) => {
    const file = join(APP, `dist/src/${id.split('-')[0] ?? ''}.js`);
    const program = spawn(process.execPath, [file], {
      env: { ...env, NODE_ID: id },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: program.stdout }).on('line', (line) => {
      console.log(`${id}  ${line}`);
    });
    return program;
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      for (const program of programs) program.kill(signal);
    });
  }
  if (process.env['USERS'] === undefined) {
    console.log(`Sign in at a [Web] address with ${USERS[0]?.token ?? ''}, or as the operator with ${OPERATOR_TOKEN}`);
  }
  await Promise.all(programs.map((program) => once(program, 'exit')));
}

/** Runs of the last weeks, so that a report takes a while. */
async function addHistory(url: string): Promise<void> {
  const redis = new Redis(url);
  const adding = redis.pipeline();
  for (let age = 50_000; age > 0; age--) {
    const at = Date.now() - age * 30_000;
    const run = {
      job: 'price-tick',
      outcome: age % 50 === 0 ? 'failed' : 'succeeded',
      scheduledAt: new Date(at).toISOString(),
      durationMs: age % 90,
      fencingToken: 1,
      error: '',
    };
    adding.xadd(`${process.env['PROJECT_NAME'] ?? 'reports'}:runs`, `${String(at)}-0`, ...Object.entries(run).flat());
  }
  await adding.exec();
  redis.disconnect();
}
