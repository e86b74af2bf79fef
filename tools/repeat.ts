import { inWords } from './workspace/counts.js';
import { startLoad } from './workspace/load.js';
import { runTests } from './workspace/tests.js';

/** `npx tsx tools/repeat.ts 20 [arguments of jest]`: what depends on timing, again and again on a machine without a free core. */
const TIMED = ['contract', 'integration', 'processes', 'faults'];

const [count = '20', ...args] = process.argv.slice(2);
const rounds = Number(count);
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`the number of rounds must be a whole number, got ${count}`);

const results: string[] = [];
const stopLoad = startLoad();
try {
  while (results.length < rounds) {
    const result = await runTests(args, TIMED);
    results.push(inWords(result));
    // a round that found no test at all has shown nothing
    if (result.failed > 0 || result.passed === 0) process.exitCode = 1;
  }
} finally {
  stopLoad();
}
for (const [index, result] of results.entries()) console.log(`round ${String(index + 1)}/${String(rounds)}: ${result}`);
