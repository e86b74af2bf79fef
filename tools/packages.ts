import { Application, pack } from './packages/application.js';
import { PostgresServer } from './servers/postgres-server.js';
import { provideRedis } from './servers/provide-redis.js';

/**
 * `npm run test:packages [-- <name>…]`: the packed tarball in applications of strangers, outside the checkout. The
 * scripts of their manifests type-check, build, run on a real Redis and a real PostgreSQL, test, and bundle them. It
 * stops at the first that fails.
 */
const NAMES = ['nest-11-cjs', 'nest-11-esm', 'nest-12-cjs', 'nest-12-esm'];

/** Nest 12 is made of ES modules only, and Jest loads those from CommonJS tests since Node 24.9. */
const canJestRequireModules = process.versions.node.localeCompare('24.9.0', undefined, { numeric: true }) >= 0;

/** In the order in which they build on each other. Not every application has all. */
const SCRIPTS = [
  ...['build', 'load', 'without-peers', 'start', 'hand-over', 'stop-order', 'test', 'bundle'],
  ...(canJestRequireModules ? ['test:required-modules'] : []),
  // elsewhere it would have to be signed
  ...(process.platform === 'linux' ? ['executable'] : []),
];

const wanted = process.argv.length > 2 ? process.argv.slice(2) : NAMES;
const tarball = await pack();
await using redis = await provideRedis();
await using postgres = await PostgresServer.start();
for (const name of wanted) {
  await using app = await Application.install(name, tarball);
  for (const script of SCRIPTS) await app.npm(['run', '--if-present', script], redis.url);
  await app.npm(['start'], postgres.url);
}
