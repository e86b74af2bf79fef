import { join } from 'node:path';
import { attempt } from './workspace/command.js';
import { ROOT } from './workspace/paths.js';
import { runTests } from './workspace/tests.js';

/** What takes too long for every commit. */
const PARTS: Readonly<Record<string, () => Promise<boolean>>> = {
  'faults on real servers and processes': async () => {
    const { passed, failed } = await runTests([], ['faults']);
    return failed === 0 && passed > 0;
  },
  '10,000 simulated scenarios': () => endsWell('test/simulation/command/simulate.ts', '--seeds', '10000'),
  'every measure of the benchmark once': () => endsWell('bench/main.ts', '--quick'),
  'the report service, also in Chromium': () => endsWell('tools/reports.ts', 'test'),
};

/** `npm run test:nightly` runs all parts, also after one that failed. */
const results: string[] = [];
for (const [name, isGood] of Object.entries(PARTS)) {
  const startedAt = performance.now();
  const verdict = (await isGood()) ? 'ok    ' : 'FAILED';
  if (verdict === 'FAILED') process.exitCode = 1;
  results.push(`${verdict} ${name} (${((performance.now() - startedAt) / 60_000).toFixed(1)} min)`);
}
for (const result of results) console.log(result);

async function endsWell(file: string, ...args: string[]): Promise<boolean> {
  const { code } = await attempt(process.execPath, ['--import', 'tsx', join(ROOT, file), ...args], { isShown: true });
  return code === 0;
}
