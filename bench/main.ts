import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { node, npm } from '../tools/workspace/command.js';
import { ROOT } from '../tools/workspace/paths.js';
import { installLibrary } from './library.js';
import { type Measure, type Scale } from './measure.js';
import { MEASURES } from './measures/index.js';
import { conditions, type Result, tableOf, write } from './report.js';

// 'exit' listeners end the replicas, and guard processes the servers
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    installed: { type: 'boolean', default: false },
  },
});
const isQuick = values.quick;
const scale: Scale = { pick: (full, quick) => (isQuick ? quick : full) };
const chosen = MEASURES.filter(({ name }) => values.only?.split(',').some((only) => name.startsWith(only)) ?? true);
if (chosen.length === 0) {
  throw new Error(`--only takes the names of measures: ${MEASURES.map(({ name }) => name).join(', ')}`);
}

const startedAtMs = performance.now();
await prepare();
const results: Result[] = [];
let failed = 0;
// a measure needs the machine for itself, but a quick run looks for errors and not for figures
const waiting = [...chosen];
await Promise.all(Array.from({ length: scale.pick(1, 3) }, attemptAll));
const inOrder = chosen.flatMap(({ name }) => results.filter((result) => result.name === name));
const files = await write(
  { conditions: await conditions(isQuick), results: inOrder },
  values.only === undefined && !isQuick,
);
console.log(`\nwrote ${files}`);
console.log(`bench: ${results.length} measured, ${failed} failed in ${secondsSince(startedAtMs)} s`);
process.exit(failed === 0 ? 0 : 1);

/**
 * Installs what is missing, and the library of this checkout unless `--installed` says to take the one that is there.
 */
async function prepare(): Promise<void> {
  const bench = import.meta.dirname;
  if (!existsSync(join(bench, 'node_modules/bullmq'))) await npm(['ci'], { cwd: bench });
  if (!values.installed) await installLibrary(ROOT);
  await node('typescript/bin/tsc', ['-p', join(bench, 'contestants')]);
  console.log(`ready after ${secondsSince(startedAtMs)} s`);
}

async function attemptAll(): Promise<void> {
  for (let measure = waiting.shift(); measure !== undefined; measure = waiting.shift()) await attempt(measure);
}

async function attempt(measure: Measure): Promise<void> {
  const fromMs = performance.now();
  try {
    const { run, ...rest } = measure;
    const result = { ...rest, rows: await run(scale) };
    console.log(`\n${result.title} (${result.name}, ${secondsSince(fromMs)} s)\n\n${tableOf(result)}`);
    results.push(result);
  } catch (error) {
    console.error(`\n${measure.title} FAILED after ${secondsSince(fromMs)} s:`, error);
    failed++;
  }
}

function secondsSince(fromMs: number): string {
  return ((performance.now() - fromMs) / 1_000).toFixed(0);
}
