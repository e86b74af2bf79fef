import { type Violation } from '../support/checker.js';
import { drawPlan, type Perils } from './draw-plan.js';
import { play, type Staging } from './play.js';

export interface SeedsToPlay {
  readonly first: number;
  readonly count: number;
  readonly perils?: Perils;
  readonly staging?: Staging;
}

/** A promise that a story broke. */
export interface Failure extends Violation {
  readonly seed: number;
  /** What else its story was drawn with. */
  readonly perils: Perils;
}

export interface Played {
  readonly stories: number;
  readonly runs: number;
  /** Each rule that a story broke once, with the first evidence of it. */
  readonly failures: readonly Failure[];
}

/** Plays the stories of many seeds, one after another. */
export async function playSeeds(seeds: SeedsToPlay): Promise<Played> {
  const { first, count, perils = {}, staging } = seeds;
  const failures: Failure[] = [];
  let runs = 0;
  let stories = 0;
  for (let seed = first; seed < first + count; seed++) {
    const { history, violations } = await play(drawPlan(seed, perils), staging);
    stories += 1;
    runs += history.runs.length;
    const rules = new Map(violations.toReversed().map((violation) => [violation.rule, violation]));
    for (const violation of rules.values()) failures.push({ seed, perils, ...violation });
  }
  return { stories, runs, failures };
}

/** The story of one seed, with ordinary faults alone. */
export function simulate(seed: number, sabotage?: Staging['sabotage']) {
  return play(drawPlan(seed), sabotage === undefined ? {} : { sabotage });
}
