import fc from 'fast-check';
import { pairOf } from './pairs.js';
import { RULES } from './rules.js';
import { anyStory, type Story } from './story.js';
import { World } from './world.js';

const MAX_LINES = 40;

export interface Stories {
  readonly seed: number;
  readonly count: number;
  /** To play the smallest story of an earlier failure at once. */
  readonly path?: string | undefined;
}

/**
 * Plays stories by chance until one breaks a rule. Resolves to how often each exception was needed, and to the smallest
 * story that breaks a rule, in words.
 */
export async function playStories({ seed, count, path }: Stories) {
  const excused: Record<string, number> = {};
  const keepsAllRules = fc.asyncProperty(anyStory, async (story) => {
    const { rules } = await new World(story).play();
    for (const why of rules.excused) excused[why] = (excused[why] ?? 0) + 1;
    return rules.violation === undefined;
  });
  const details = await fc.check(keepsAllRules, { seed, numRuns: count, ...(path !== undefined && { path }) });
  const [story] = details.counterexample ?? [];
  if (story === undefined) return { excused, failure: undefined };
  return { excused, failure: `${await inWords(story)}\n  --seed ${seed} --path ${String(details.counterexamplePath)}` };
}

export type Result = Awaited<ReturnType<typeof playStories>>;

/** The same for pairs of faults, by their numbers, until one breaks a rule. */
export async function playPairs(pairs: readonly number[]): Promise<Result> {
  const excused: Record<string, number> = {};
  for (const index of pairs) {
    const { rules } = await new World(pairOf(index)).play();
    for (const why of rules.excused) excused[why] = (excused[why] ?? 0) + 1;
    if (rules.violation !== undefined)
      return { excused, failure: `${await inWords(pairOf(index))}\n  --pairs --pair ${index}` };
  }
  return { excused, failure: undefined };
}

/** What happens in a story that breaks a rule, in at most 40 lines. */
export async function inWords(story: Story): Promise<string> {
  const { rules, log } = await new World(story, true).play();
  const { jobs, places, ...setting } = story.setting;
  const rule = rules.violation?.rule;
  const plans = [setting, ...jobs, ...places].map((one) => JSON.stringify(one));
  const broken = rule === undefined ? 'no rule is broken' : `${rule}: ${RULES[rule]}`;
  const head = [broken, ...plans].slice(0, MAX_LINES / 3);
  // most heartbeats change nothing, and what is found at the end is not about the last runs
  const isAtEnd = ['L5', 'P1', 'T2'].includes(rule ?? '');
  const lines = log.filter((line) => !line.endsWith(' sync') && !(isAtEnd && / RUNS | run"/.test(line)));
  return [...head, ...lines.slice(head.length + 1 - MAX_LINES)].map((line) => line.slice(0, 220)).join('\n');
}
