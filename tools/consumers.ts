import { join } from 'node:path';
import { Consumer, type ConsumerKind } from './consumers/consumer.js';
import { run } from './workspace/command.js';
import { ROOT } from './workspace/paths.js';

/** Nest 12 is made of ES modules only, and Jest loads those from CommonJS tests since Node 24.9. */
const canJestRequireModules = process.versions.node.localeCompare('24.9.0', undefined, { numeric: true }) >= 0;

const KINDS: readonly ConsumerKind[] = [
  { name: 'nest-11-cjs', alsoCheckedAs: ['node16', 'nodenext'], canRunJest: true },
  { name: 'nest-12-esm', alsoCheckedAs: [], canRunJest: true },
  { name: 'nest-12-cjs', alsoCheckedAs: [], canRunJest: canJestRequireModules },
];

/**
 * `npm run test:consumers [-- <name>…]`: the packed tarball in applications outside the checkout, installed, type-checked,
 * built, booted until they end by themselves, and tested with their own jest where Nest allows that on this Node.
 */
const wanted = process.argv.slice(2);
const packed = await run(process.execPath, [join(ROOT, 'node_modules/tsx/dist/cli.mjs'), join(ROOT, 'tools/pack.ts')]);
const tarball = join(ROOT, packed.trim().split('\n').at(-1) ?? '');

for (const kind of KINDS) {
  if (wanted.length > 0 && !wanted.includes(kind.name)) continue;
  await using consumer = await Consumer.create(kind);
  await step(kind, 'installed', () => consumer.install(tarball));
  await step(kind, 'types checked and built', () => consumer.build());
  await step(kind, 'import and require give one copy', () => consumer.checkCopies());
  await step(kind, 'two copies run no job twice', () => consumer.checkSecondCopy());
  await step(kind, 'every entry point loads, and needs its peer alone', () => consumer.checkEntryPoints());
  await step(kind, 'its heartbeat thread starts', () => consumer.checkHeartbeatThread());
  await step(kind, 'booted, ran its job and ended', () => consumer.boot());
  await step(kind, 'stopped before what its jobs use, in nine set-ups', () => consumer.checkStopOrder());
  if (kind.canRunJest) await step(kind, 'passed its own tests', () => consumer.test());
  else console.log(`${kind.name}: own tests left out, Nest 12 under CommonJS jest needs Node 24.9 or later`);
}

async function step({ name }: ConsumerKind, outcome: string, action: () => Promise<void>): Promise<void> {
  const startedAt = performance.now();
  await action();
  console.log(`${name}: ${outcome} (${((performance.now() - startedAt) / 1_000).toFixed(1)} s)`);
}
