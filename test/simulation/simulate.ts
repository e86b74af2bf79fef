import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { playStories, type Result, type Stories } from './play.js';

/**
 * `node --import tsx test/simulation/simulate.ts --seed 1 --stories 10000`: plays stories on all cores, from that seed on.
 * With the seed and the path of a failure it plays the smallest story that breaks the rule.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    stories: { type: 'string', default: '10000' },
    path: { type: 'string' },
  },
});

/** Stories of one seed. */
const CHUNK = 100;

if (process.send === undefined) await main();
else process.on('message', (stories) => void playStories(stories as Stories).then((result) => process.send?.(result)));

async function main(): Promise<void> {
  const [first, count] = [Number(values.seed), values.path === undefined ? Number(values.stories) : 1];
  const startedAt = performance.now();
  const chunks: Stories[] = [];
  for (let done = 0; done < count; done += CHUNK)
    chunks.push({ seed: first + chunks.length, count: Math.min(CHUNK, count - done), path: values.path });
  const results: Result[] = [];
  const work = async (): Promise<void> => {
    const worker = fork(import.meta.filename);
    for (let chunk = chunks.shift(); chunk !== undefined; chunk = chunks.shift()) {
      worker.send(chunk);
      const [result] = (await once(worker, 'message')) as [Result];
      results.push(result);
      if (result.failure !== undefined) print(`\n${result.failure}`);
    }
    worker.kill();
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), chunks.length) }, work));
  const sum = (of: (result: Result) => number): number => results.reduce((so, result) => so + of(result), 0);
  const excused: Record<string, number> = {};
  for (const result of results)
    for (const [why, times] of Object.entries(result.excused)) excused[why] = (excused[why] ?? 0) + times;
  const failures = sum(({ failure }) => Number(failure !== undefined));
  print(`\n${sum((one) => one.stories)} stories, ${sum((one) => one.terms)} terms, ${sum((one) => one.runs)} runs,`);
  print(`${sum((one) => one.hours).toFixed(0)} hours in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  print(`exceptions, in how many stories: ${JSON.stringify(excused, undefined, 2)}`);
  print(`${failures} failures`);
  if (failures > 0) process.exitCode = 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
