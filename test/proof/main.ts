import { parseArgs } from 'node:util';
import { type Counts, inWords, record, total } from '../../tools/workspace/counts.js';
import { runTests } from '../../tools/workspace/tests.js';
import { printClaims } from './claims.js';
import { checkMutants, runMutants } from './mutants/run-mutants.js';
import { playAndPrint } from './simulation/command/play-and-print.js';

const MINUTE_MS = 60_000;
const STORIES = 10_000;

/**
 * `npm run proof`: the specs of the proof, 10,000 simulated stories, and the mutants.
 * `-- --quick`: simulated stories for one minute. `-- --mutants`: the mutants only. `-- --list`: what shows each promise and each fault.
 */
const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, mutants: { type: 'boolean' }, list: { type: 'boolean' } },
});

if (values.list === true) {
  await printClaims();
} else {
  const counts = total(await parts());
  await record('proof', counts);
  console.log(`proof: ${inWords(counts)}`);
  if (counts.failed > 0) process.exitCode = 1;
}

async function parts(): Promise<Counts[]> {
  if (values.mutants === true) return [await runMutants()];
  // a change of the library must not leave a mutant without its text
  await checkMutants();
  if (values.quick === true) return [await simulate(MINUTE_MS)];
  return [await runTests([], ['proof']), await simulate(), await runMutants()];
}

/** All stories together count as one check. */
async function simulate(forMs?: number): Promise<Counts> {
  const isGood = await playAndPrint({ first: 1, count: STORIES, ...(forMs !== undefined && { forMs }) });
  return isGood ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}
