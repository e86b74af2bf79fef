import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { pairsOf } from './pairs.js';
import { playPairs, playStories, type Result, type Stories } from './play.js';

/** Stories of one seed, or pairs. */
const CHUNK = 100;

/** Stories by chance, or the numbers of pairs. */
type Chunk = Stories | readonly number[];

/**
 * `node --import tsx test/simulation/simulate.ts --seed 1 --stories 10000`: plays stories on all cores, from that seed
 * on. With the seed and the path of a failure it plays the smallest story that breaks the rule. With `--pairs` it plays
 * the pairs of faults of a day of the month, today if no `--day` is given, or one `--pair`.
 */
async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const options = { seed: text, stories: text, path: text, pairs: { type: 'boolean' }, day: text, pair: text } as const;
  const { pairs, day = new Date().getDate(), pair, ...given } = parseArgs({ options }).values;
  const chunks =
    pairs === true ? chunksOfPairs(pair === undefined ? pairsOf(Number(day)) : [Number(pair)]) : chunksOf(given);
  const count = chunks.reduce((sum, chunk) => sum + ('count' in chunk ? chunk.count : chunk.length), 0);
  const excused: Record<string, number> = {};
  let failures = 0;
  const work = async (): Promise<void> => {
    const worker = fork(import.meta.filename);
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
      worker.send(chunk);
      const [result] = (await once(worker, 'message')) as [Result];
      for (const [why, times] of Object.entries(result.excused)) excused[why] = (excused[why] ?? 0) + times;
      if (result.failure === undefined) continue;
      failures += 1;
      console.log(`\n${result.failure}`);
    }
    worker.kill();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), chunks.length) }, work));
  console.log(`exceptions, in how many stories: ${JSON.stringify(excused, undefined, 2)}`);
  console.log(`${count} stories, ${failures} failures`);
  if (failures > 0) process.exitCode = 1;
}

function chunksOf({ seed = '1', stories = '10000', path }: Readonly<Partial<Record<string, string>>>): Chunk[] {
  const count = path === undefined ? Number(stories) : 1;
  return Array.from({ length: Math.ceil(count / CHUNK) }, (_, n) => {
    return { seed: Number(seed) + n, count: Math.min(CHUNK, count - n * CHUNK), path };
  });
}

function chunksOfPairs(pairs: readonly number[]): Chunk[] {
  const count = Math.ceil(pairs.length / CHUNK);
  return Array.from({ length: count }, (_, n) => pairs.slice(n * CHUNK, (n + 1) * CHUNK));
}

async function play(chunk: Chunk): Promise<void> {
  process.send?.(await ('seed' in chunk ? playStories(chunk) : playPairs(chunk)));
}

if (process.send === undefined) await main();
else process.on('message', (chunk) => void play(chunk as Chunk));
