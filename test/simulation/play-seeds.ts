import { drawPlan } from './draw-plan.js';
import { play, type PlayOptions } from './play.js';
import { type Violation } from './history.js';

export interface SeedsToPlay {
  readonly first: number;
  readonly count: number;
  readonly options?: PlayOptions;
}

/** A rule that a scenario broke. */
export interface Failure extends Violation {
  readonly seed: number;
}

export interface Played {
  readonly scenarios: number;
  readonly runs: number;
  /** Each rule that a scenario broke once, with the first evidence of it. */
  readonly failures: readonly Failure[];
}

/** Plays the scenarios of many seeds, one after another. */
export async function playSeeds(seeds: SeedsToPlay): Promise<Played> {
  const { first, count, options } = seeds;
  const failures: Failure[] = [];
  let runs = 0;
  let scenarios = 0;
  for (let seed = first; seed < first + count; seed++) {
    const { history, violations } = await play(drawPlan(seed), options);
    scenarios += 1;
    runs += history.runs.length;
    const rules = new Map(violations.toReversed().map((violation) => [violation.rule, violation]));
    for (const violation of rules.values()) failures.push({ seed, ...violation });
  }
  return { scenarios, runs, failures };
}

/** The scenario of one seed. */
export function simulate(seed: number) {
  return play(drawPlan(seed));
}
