import { tool } from './workspace/command.js';
import { holds } from './workspace/holds.js';
import { runTests } from './workspace/tests.js';

const SHOWN = { isShown: true };

/** What takes too long for every commit. */
const PARTS: Readonly<Record<string, () => Promise<unknown>>> = {
  'faults on real servers and processes': async () => {
    const { passed, failed } = await runTests([], ['faults']);
    if (failed > 0 || passed === 0) throw new Error(`${passed} passed, ${failed} failed`);
  },
  '10,000 simulated scenarios': () => tool('../test/simulation/simulate.ts', ['--stories', '10000'], SHOWN),
  'every measure of the benchmark once': () => tool('../bench/main.ts', ['--quick'], SHOWN),
  'the report service, also in Chromium': () => tool('reports.ts', ['test'], SHOWN),
};

/** `npm run test:nightly` runs all parts, also after one that failed. */
const verdicts: boolean[] = [];
for (const [part, check] of Object.entries(PARTS)) verdicts.push(await holds(part, check));
if (verdicts.includes(false)) process.exitCode = 1;
