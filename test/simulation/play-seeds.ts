import { drawPlan } from './draw-plan.js';
import { play, type PlayOptions } from './play.js';
import { type Violation } from './history.js';

export interface SeedsToPlay {
  readonly first: number;
  readonly count: number;
  readonly options?: PlayOptions;
}

/** A rule that a story broke. */
export interface Failure extends Violation {
  readonly seed: number;
}

export interface Played {
  readonly stories: number;
  readonly runs: number;
  /** Each rule that a story broke once, with the first evidence of it. */
  readonly failures: readonly Failure[];
}

/** Plays the stories of many seeds, one after another. */
export async function playSeeds(seeds: SeedsToPlay): Promise<Played> {
  const { first, count, options } = seeds;
  const failures: Failure[] = [];
  let runs = 0;
  let stories = 0;
  for (let seed = first; seed < first + count; seed++) {
    const { history, violations } = await play(drawPlan(seed), options);
    stories += 1;
    runs += history.runs.length;
    const rules = new Map(violations.toReversed().map((violation) => [violation.rule, violation]));
    for (const violation of rules.values()) failures.push({ seed, ...violation });
  }
  return { stories, runs, failures };
}

/** The story of one seed. */
export function simulate(seed: number) {
  return play(drawPlan(seed));
}
