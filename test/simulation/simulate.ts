import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { playStories, type Result, type Stories } from './play.js';

/** Stories of one seed. */
const CHUNK = 100;

/**
 * `node --import tsx test/simulation/simulate.ts --seed 1 --stories 10000`: plays stories on all cores, from that seed
 * on. With the seed and the path of a failure it plays the smallest story that breaks the rule.
 */
async function main(): Promise<void> {
  const options = { seed: { type: 'string' }, stories: { type: 'string' }, path: { type: 'string' } } as const;
  const { seed = '1', stories = '10000', path } = parseArgs({ options }).values;
  const count = path === undefined ? Number(stories) : 1;
  const chunks: Stories[] = [];
  for (let done = 0; done < count; done += CHUNK)
    chunks.push({ seed: Number(seed) + chunks.length, count: Math.min(CHUNK, count - done), path });
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

if (process.send === undefined) await main();
else process.on('message', (stories) => void playStories(stories as Stories).then((result) => process.send?.(result)));
