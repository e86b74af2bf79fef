import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { attempt, type CommandResult } from './workspace/command.js';
import { inWords } from './workspace/counts.js';
import { startLoad } from './workspace/load.js';
import { ROOT } from './workspace/paths.js';
import { runTests } from './workspace/tests.js';

/** `npm run test:repeat -- 20 [arguments of jest]`: what depends on timing, again and again on a machine without a free core. */
const TIMED = ['contract', 'integration', 'processes', 'proof'];

/** A simulated story ends in the same way each time: so each round that leaves nothing out plays others, which no test run plays. */
const STORIES = 200;
const FIRST_STORY = 1_000_000;

const [count = '20', ...args] = process.argv.slice(2);
const rounds = Number(count);
if (!Number.isInteger(rounds) || rounds < 1)
  throw new Error(`the number of rounds must be a whole number, got ${count}`);

let failures = 0;
const stopLoad = startLoad();
try {
  for (let round = 1; round <= rounds; round++) failures += (await play(round)) ? 0 : 1;
} finally {
  stopLoad();
}
console.log(`${String(rounds - failures)} of ${String(rounds)} rounds passed`);
if (failures > 0) process.exitCode = 1;

async function play(round: number): Promise<boolean> {
  const startedAt = performance.now();
  const result = await runTests(args, { projects: TIMED, isShown: false });
  const stories = args.length === 0 ? await playStories(FIRST_STORY + round * STORIES) : undefined;
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  const isGood = result.failed === 0 && result.passed > 0 && (stories === undefined || stories.code === 0);
  const output = `${result.output}${stories?.output ?? ''}`;
  const log = isGood ? '' : `, see ${await keep(round, output)}`;
  const played = stories === undefined ? '' : `, ${String(STORIES)} stories ${stories.code === 0 ? 'kept' : 'BROKEN'}`;
  console.log(`round ${String(round)}/${String(rounds)}: ${inWords(result)}${played}, ${seconds} s${log}`);
  return isGood;
}

function playStories(first: number): Promise<CommandResult> {
  const seeds = ['--seeds', String(STORIES), '--first', String(first)];
  return attempt(process.execPath, ['--import', 'tsx', join(ROOT, 'test/proof/simulate.ts'), ...seeds]);
}

async function keep(round: number, output: string): Promise<string> {
  const folder = join(ROOT, '.cache/repeat');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `round-${String(round)}.log`);
  await writeFile(file, output);
  return relative(ROOT, file);
}
