import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { locateRedisServer, provideRedis } from './replicas/redis/index.js';
import { attempt, npm, tool } from './workspace/command.js';
import { inWords, record } from './workspace/counts.js';
import { DIST, LIBRARY, ROOT } from './workspace/paths.js';

/**
 * `npm run reports`: apps/reports with two web replicas and two workers, and a Redis if REDIS_URL names none.
 * `npm run reports -- test`: its tests; `--without browser` leaves out the test of its page in Chromium.
 */
const APP = join(ROOT, 'apps/reports');
const USERS = [
  { name: 'ada', token: 'token-of-ada-for-the-sample' },
  { name: 'bob', token: 'token-of-bob-for-the-sample' },
];

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

const [command, ...flags] = process.argv.slice(2);
const isWithoutBrowser = flags.join(' ') === '--without browser';
if (flags.length > 0 && !isWithoutBrowser) fail('usage: npm run reports [-- test [--without browser]]');
if (command === 'test' && !isWithoutBrowser) await requireChromium();
await build();
if (command === 'test') await test(isWithoutBrowser ? ['dist/test'] : ['dist/test', 'dist/test/browser']);
else await start();

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}

async function requireChromium(): Promise<void> {
  const isThere = await access(CHROMIUM, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    fail(
      `The test of the page needs Chromium, and there is none at ${CHROMIUM}. Install Debian's package "chromium", or set ` +
        'CHROMIUM to the path of one. `npm run reports -- test --without browser` leaves this test out.',
    );
  }
}

/** Installs the library as it would be published, and compiles the application. */
async function build(): Promise<void> {
  if (!(await isPacked())) {
    console.log('packs the library');
    await tool('pack.ts');
  }
  await npm(['ci'], { cwd: APP });
  await rm(join(APP, 'dist'), { recursive: true, force: true });
  await npm(['run', 'build'], { cwd: APP });
}

/** Whether the package is younger than every file of the library. */
async function isPacked(): Promise<boolean> {
  const { name, version } = JSON.parse(await readFile(join(LIBRARY, 'package.json'), 'utf8')) as Record<string, string>;
  const tarball = await stat(join(DIST, `${String(name)}-${String(version)}.tgz`)).catch(() => undefined);
  const files = await readdir(LIBRARY, { recursive: true });
  const changed = await Promise.all(files.map(async (file) => (await stat(join(LIBRARY, file))).mtimeMs));
  return tarball !== undefined && tarball.mtimeMs > Math.max(...changed);
}

/** Two test files at a time: they mostly wait. */
async function test(folders: readonly string[]): Promise<void> {
  const redis = await locateRedisServer();
  const inFolder = async (folder: string): Promise<string[]> =>
    (await readdir(join(APP, folder))).filter((file) => file.endsWith('.test.js')).map((file) => join(folder, file));
  const files = (await Promise.all(folders.map(inFolder))).flat();
  const results = await mkdtemp(join(ROOT, '.cache/reports-'));
  try {
    const tap = join(results, 'tests.tap');
    const shown = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
    const counted = ['--test-reporter=tap', `--test-reporter-destination=${tap}`];
    const limits = ['--test-concurrency=2', '--test-timeout=200000'];
    const options = ['--enable-source-maps', '--test', ...limits, ...shown, ...counted];
    const { code } = await attempt(process.execPath, [...options, ...files], {
      cwd: APP,
      env: { ...redis.env, REDIS_SERVER_BINARY: redis.path, CHROMIUM },
      isShown: true,
    });
    const text = await readFile(tap, 'utf8');
    const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    const [passed, failed] = [count('pass'), count('fail') + count('cancelled')];
    const counts = { passed, failed: failed === 0 && (code !== 0 || passed === 0) ? 1 : failed };
    await record('reports', counts);
    console.log(inWords(counts));
    if (counts.failed > 0) process.exitCode = 1;
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/** Runs until Ctrl-C, which the terminal sends to the programs as well. */
async function start(): Promise<void> {
  await using redis = await provideRedis();
  // a borrowed Redis may have data already
  if (process.env['REDIS_URL'] === undefined) await addHistory(redis.url);
  const env = { USERS: JSON.stringify(USERS), ...process.env, REDIS_URL: redis.url };
  const programs = ['web', 'web', 'worker', 'worker'].map((name, i) =>
    launch(name, { ...env, NODE_ID: `${name}-${String((i % 2) + 1)}` }),
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      for (const program of programs) program.kill(signal);
    });
  }
  await Promise.all(programs.map((program) => new Promise((resolve) => program.once('exit', resolve))));
}

function launch(name: string, env: NodeJS.ProcessEnv): ChildProcess {
  const program = spawn(process.execPath, [join(APP, `dist/src/${name}.js`)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface({ input: program.stdout }).on('line', (line) => {
    console.log(`${String(env['NODE_ID'])}  ${line}`);
    const url = /\[Web\] .*answers at (http:[\w./:]+)/.exec(line)?.[1];
    const token = USERS[0]?.token ?? '';
    if (url !== undefined)
      console.log(`\n  Open ${url} and sign in with ${env['USERS']?.includes(token) === true ? token : 'a token'}\n`);
  });
  return program;
}

/** Runs of the last weeks, so that a report takes a while. */
async function addHistory(url: string): Promise<void> {
  const redis = new Redis(url);
  const adding = redis.pipeline();
  const count = 50_000;
  const stepMs = 30_000;
  const now = Date.now();
  for (let i = count; i > 0; i--) {
    const at = now - i * stepMs;
    const outcome = i % 50 === 0 ? 'failed' : 'succeeded';
    const run = {
      job: 'price-tick',
      outcome,
      scheduledAt: new Date(at).toISOString(),
      durationMs: i % 90,
      fencingToken: 1,
      error: '',
    };
    adding.xadd(`${process.env['PROJECT_NAME'] ?? 'reports'}:runs`, `${String(at)}-0`, ...Object.entries(run).flat());
  }
  await adding.exec();
  redis.disconnect();
}
