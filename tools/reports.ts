import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { locateRedisServer, provideRedis } from './replicas/redis/index.js';
import { attempt, npm, tool } from './workspace/command.js';
import { inWords, record } from './workspace/counts.js';
import { joinPrograms } from './workspace/join-programs.js';
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

const OPERATOR_TOKEN = 'token-of-the-operator-of-the-sample';
const ESLINT = join(ROOT, 'node_modules/eslint/bin/eslint.js');
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

/** Installs the library as it would be published, and compiles the application. A step whose result is there already is left out. */
async function build(): Promise<void> {
  const tarball = join(DIST, await tarballName());
  await step('packs the library', tarball, [LIBRARY], () => tool('pack.ts'));
  const inputs = [tarball, join(APP, 'package.json'), join(APP, 'package-lock.json')];
  await step('installs apps/reports', join(APP, 'node_modules/.package-lock.json'), inputs, () =>
    npm(['ci'], { cwd: APP }),
  );
  const sources = ['src', 'test', 'tsconfig.json', 'node_modules/.package-lock.json'].map((name) => join(APP, name));
  await step('compiles apps/reports', join(APP, 'dist/src/page/index.html'), sources, async () => {
    await rm(join(APP, 'dist'), { recursive: true, force: true });
    await npm(['run', 'build'], { cwd: APP });
  });
}

/** The programs, as the tests start them. Returns their folder. */
async function joinedPrograms(): Promise<string> {
  const outdir = join(APP, 'dist/joined');
  await joinPrograms({
    entryPoints: ['src/web.js', 'src/worker.js', 'test/support/program.js'].map((file) => join(APP, 'dist', file)),
    outbase: join(APP, 'dist'),
    outdir,
    // the controller of the page reads it from beside its own file
    define: { 'import.meta.dirname': JSON.stringify(join(APP, 'dist/src/page')) },
  });
  return outdir;
}

/** Says what it does and how long it took, because a first start takes a minute or two. */
async function step(
  name: string,
  result: string,
  inputs: readonly string[],
  act: () => Promise<unknown>,
): Promise<void> {
  if ((await newest([result])) > (await newest(inputs))) return;
  const startedAt = Date.now();
  process.stdout.write(`${name} … `);
  await act();
  console.log(`${String(Math.round((Date.now() - startedAt) / 1_000))} s`);
}

async function tarballName(): Promise<string> {
  const { name, version } = JSON.parse(await readFile(join(LIBRARY, 'package.json'), 'utf8')) as Record<string, string>;
  return `${String(name)}-${String(version)}.tgz`;
}

/** When the newest of these files, or files in these folders, was changed. 0: one is missing. */
async function newest(paths: readonly string[]): Promise<number> {
  const times = await Promise.all(
    paths.map(async (path) => {
      const found = await stat(path).catch(() => undefined);
      if (found?.isDirectory() !== true) return [found?.mtimeMs ?? 0];
      const files = await readdir(path, { recursive: true });
      return Promise.all(files.map(async (file) => (await stat(join(path, file))).mtimeMs));
    }),
  );
  return Math.max(...times.flat());
}

/** The root is linted without this package, whose dependencies a fresh clone does not have. */
async function lint(): Promise<boolean> {
  const { code, output } = await attempt(process.execPath, [ESLINT, 'apps/reports', '--max-warnings', '0'], {
    env: { LINT_REPORTS: 'yes' },
  });
  console.log(code === 0 ? 'eslint apps/reports: no mistakes' : output);
  return code === 0;
}

/** Two test files at a time: they mostly wait. */
async function test(folders: readonly string[]): Promise<void> {
  const isClean = await lint();
  const redis = await locateRedisServer();
  const inFolder = async (folder: string): Promise<string[]> =>
    (await readdir(join(APP, folder))).filter((file) => file.endsWith('.test.js')).map((file) => join(folder, file));
  const files = (await Promise.all(folders.map(inFolder))).flat();
  const results = await mkdtemp(join(ROOT, '.cache/reports-'));
  try {
    const tap = join(results, 'tests.tap');
    const shown = ['--test-reporter=spec', '--test-reporter-destination=stdout'];
    const counted = ['--test-reporter=tap', `--test-reporter-destination=${tap}`];
    // ends a file that waits for nothing: on a machine that is busy with other work a file takes some minutes
    const limits = ['--test-concurrency=2', '--test-timeout=600000'];
    const options = ['--enable-source-maps', '--test', ...limits, ...shown, ...counted];
    const { code } = await attempt(process.execPath, [...options, ...files], {
      cwd: APP,
      env: { ...redis.env, REDIS_SERVER_BINARY: redis.path, CHROMIUM, PROGRAMS: await joinedPrograms() },
      isShown: true,
    });
    const text = await readFile(tap, 'utf8');
    const count = (what: string): number => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
    const [passed, failed] = [count('pass'), count('fail') + count('cancelled')];
    const hasFailed = code !== 0 || passed === 0 || !isClean;
    const counts = { passed, failed: failed === 0 && hasFailed ? 1 : failed };
    await record('reports', counts);
    console.log(inWords(counts));
    if (counts.failed > 0) process.exitCode = 1;
  } finally {
    await rm(results, { recursive: true, force: true });
  }
}

/** Runs until Ctrl-C, which the terminal sends to the programs as well. */
async function start(): Promise<void> {
  console.log('starts two web replicas and two workers');
  await using redis = await provideRedis();
  // a borrowed Redis may have data already
  if (process.env['REDIS_URL'] === undefined) await addHistory(redis.url);
  const env = { USERS: JSON.stringify(USERS), OPERATOR_TOKEN, ...process.env, REDIS_URL: redis.url };
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
    if (url === undefined) return;
    const tokens =
      process.env['USERS'] === undefined
        ? `${USERS[0]?.token ?? ''}, or as the operator with ${OPERATOR_TOKEN}`
        : 'a token';
    console.log(`\n  Open ${url} and sign in with ${tokens}\n`);
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
