import { join } from 'node:path';
import { Consumer, type ConsumerKind } from './packages/consumer.js';
import { provideRedis } from './replicas/redis/index.js';
import { PostgresServer } from './replicas/postgres/postgres-server.js';
import { tool } from './workspace/command.js';
import { inWords } from './workspace/counts.js';
import { holds } from './workspace/holds.js';
import { ROOT } from './workspace/paths.js';

/** Nest 12 is made of ES modules only, and Jest loads those from CommonJS tests since Node 24.9. */
const canJestRequireModules = process.versions.node.localeCompare('24.9.0', undefined, { numeric: true }) >= 0;

/** Each version of Nest meets each module format and each version of ioredis, and so do these two. */
const KINDS: readonly ConsumerKind[] = [
  { name: 'nest-11-cjs', alsoCheckedAs: ['node16', 'nodenext'], testRunners: ['jest'], isBundled: true },
  { name: 'nest-11-esm', alsoCheckedAs: [], testRunners: ['vitest'], isBundled: false },
  {
    name: 'nest-12-cjs',
    alsoCheckedAs: [],
    testRunners: canJestRequireModules ? ['jest', 'vitest'] : ['vitest'],
    isBundled: false,
  },
  { name: 'nest-12-esm', alsoCheckedAs: [], testRunners: ['jest'], isBundled: true },
];

/**
 * `npm run test:packages [-- <name>…]`: the packed tarball in applications outside the checkout. Each is installed, type-checked,
 * built, run on a real Redis and a real PostgreSQL until it ends by itself, tested with its own test runner, bundled, and made a single
 * executable.
 */
const wanted = process.argv.slice(2);
const packed = await tool('pack.ts');
const tarball = join(ROOT, packed.trim().split('\n').at(-1) ?? '');
await using redis = await provideRedis();
await using postgres = await PostgresServer.start();
const urls = { redis: redis.url, postgres: postgres.url };

let passed = 0;
let failed = 0;
for (const kind of KINDS) {
  if (wanted.length > 0 && !wanted.includes(kind.name)) continue;
  await using consumer = await Consumer.create(kind, urls);
  for (const [rule, check] of checksOf(consumer)) {
    if (await holds(`${kind.name} ${rule}`, check)) passed++;
    else {
      failed++;
      // the checks build on each other
      break;
    }
  }
}
console.log(inWords({ passed, failed }));
if (failed > 0 || passed === 0) process.exitCode = 1;

type Check = readonly [rule: string, check: () => Promise<void>];

function checksOf(consumer: Consumer): readonly Check[] {
  const { testRunners, isBundled } = consumer.kind;
  const tests = testRunners.map((runner): Check => [`passes its own tests in ${runner}`, () => consumer.test(runner)]);
  const bundles: Check[] = [
    ['runs its job from one file of esbuild', () => consumer.bootBundle('esbuild')],
    ['runs its job from one file of webpack', () => consumer.bootBundle('webpack')],
  ];
  // elsewhere the executable has to be signed
  if (process.platform === 'linux') {
    bundles.push(['runs its job as a single executable', () => consumer.bootExecutable()]);
  }
  return [
    ['installs the package, which is small', () => consumer.install(tarball)],
    ['passes its type checks and is built', () => consumer.build()],
    ['gets one copy by import and require', () => consumer.runScript('same-copy.mjs')],
    ['runs no job twice with two copies', () => consumer.runScript('second-copy.mjs')],
    ['loads every entry point, which needs its own peer only', () => consumer.checkEntryPoints()],
    ['starts its heartbeat thread', () => consumer.runScript('heartbeat-thread.mjs')],
    ['runs its job on Redis and ends', () => consumer.boot('redis')],
    ['runs its job on PostgreSQL and ends', () => consumer.boot('postgres')],
    ['stops its jobs before what they use, in nine set-ups', () => consumer.runScript('dist/stop-order.js')],
    ...tests,
    ...(isBundled ? bundles : []),
  ];
}
