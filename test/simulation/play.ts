import fc from 'fast-check';
import { anyStory } from './draw.js';
import { RULES, type Rule } from './rules.js';
import { type Story } from './story.js';
import { World } from './world.js';

const MOST_LINES = 40;

/** Plays a story. */
export async function play(story: Story, options: { readonly isTold?: boolean } = {}): Promise<World> {
  const world = new World(story, options.isTold);
  await world.play();
  return world;
}

export interface Stories {
  readonly seed: number;
  readonly count: number;
  /** To play the smallest story of an earlier failure at once. */
  readonly path?: string | undefined;
}

export interface Result {
  readonly stories: number;
  readonly terms: number;
  readonly runs: number;
  readonly hours: number;
  /** In how many stories an exception was needed. */
  readonly excused: Readonly<Record<string, number>>;
  /** The smallest story that breaks a rule, in words. */
  readonly failure: string | undefined;
}

/** Plays stories by chance until one breaks a rule. That is made smaller as long as it breaks the same rule. */
export async function playStories({ seed, count, path }: Stories): Promise<Result> {
  const sum = { stories: 0, terms: 0, runs: 0, hours: 0 };
  const excused: Record<string, number> = {};
  let broken: Rule | undefined;
  const property = fc.asyncProperty(anyStory, async (story) => {
    const { rules, t } = await play(story);
    const { violation, count: counted } = rules;
    if (violation !== undefined && (broken ??= violation.rule) === violation.rule) return false;
    if (broken !== undefined) return true;
    sum.stories += 1;
    sum.terms += counted.terms;
    sum.runs += counted.runs;
    sum.hours += t / 3_600_000;
    for (const why of rules.excused.keys()) excused[why] = (excused[why] ?? 0) + 1;
    return true;
  });
  const details = await fc.check(property, {
    seed,
    numRuns: count,
    ...(path !== undefined && { path }),
  });
  const [story] = details.counterexample ?? [];
  const failure =
    story === undefined
      ? undefined
      : `${await inWords(story)}\n  --seed ${details.seed} --path ${String(details.counterexamplePath)}`;
  return { ...sum, excused, failure };
}

/** What happens in a story that breaks a rule, in at most 40 lines. */
export async function inWords(story: Story): Promise<string> {
  const { rules, log } = await play(story, { isTold: true });
  const { jobs, places, ...setting } = story.setting;
  const head = [
    rules.violation === undefined ? 'no rule is broken' : `${rules.violation.rule}: ${RULES[rules.violation.rule]}`,
    JSON.stringify(setting),
    ...[...jobs, ...places].map((one) => JSON.stringify(one)),
  ].slice(0, MOST_LINES / 3);
  // most heartbeats change nothing, and what is found at the end is not about the last runs
  const isAtEnd = ['L5', 'P1', 'T2'].includes(rules.violation?.rule ?? '');
  const lines = log.filter((line) => !line.endsWith(' sync') && !(isAtEnd && / RUNS | run"/.test(line)));
  return [...head, ...lines.slice(head.length - MOST_LINES)].map((line) => line.slice(0, 220)).join('\n');
}
