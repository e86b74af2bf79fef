import { type Failure } from '../simulation.js';
import { failureInWords } from './failure-in-words.js';
import { playInShards, type ShardedSeeds } from './shards.js';

/** Plays scenarios, prints the progress and the failures. Returns whether every rule was kept. */
export async function playAndPrint(seeds: Omit<ShardedSeeds, 'onProgress'>): Promise<boolean> {
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1_000).toFixed(1);
  let printed = 0;
  const { scenarios, runs, failures } = await playInShards({
    ...seeds,
    onProgress: (played, found) => {
      if (played - printed < 5_000) return;
      printed = played;
      console.log(`${played} of ${seeds.count} scenarios, ${found.length} failures, ${seconds()} s`);
    },
  });
  for (const failure of failures.slice(0, 10)) console.log(`\n${failureInWords(failure)}`);
  console.log(`\n${scenarios} scenarios, ${runs} runs, ${failures.length} failures, ${seconds()} s`);
  for (const [rule, seeds] of byRule(failures)) console.log(`${rule}: seeds ${seeds.slice(0, 10).join(' ')}`);
  return failures.length === 0;
}

function byRule(failures: readonly Failure[]): Map<string, number[]> {
  const rules = new Map<string, number[]>();
  for (const { rule, seed } of failures) rules.set(rule, [...(rules.get(rule) ?? []), seed]);
  return rules;
}
