import { type JobOnStage } from './cast.js';
import { type Fact } from './facts.js';
import { type HandOver, handOvers } from './hand-overs.js';
import { type History, readHistory } from './history.js';
import { brokenPromises, overlaps } from './promises.js';

export interface JobScore {
  readonly job: string;
  /** Replicas in the order in which they led. */
  readonly leaders: readonly string[];
  /** How long each hand-over took, in milliseconds. */
  readonly graceful: readonly number[];
  readonly kills: readonly number[];
  readonly runs: number;
  readonly dropped: number;
  readonly overlapping: number;
}

export interface Scoreboard {
  readonly jobs: readonly JobScore[];
  /** Nothing but sentences that say which promise did not hold, and how. */
  readonly broken: readonly string[];
}

/** What all the facts up to `untilMs`, when the demo began to end, come to. */
export function score(facts: readonly Fact[], jobs: readonly JobOnStage[], untilMs: number): Scoreboard {
  const history = readHistory(facts);
  return {
    jobs: jobs.map(({ name }) => scoreOf(history, name)),
    broken: brokenPromises(history, jobs, untilMs),
  };
}

function scoreOf(history: History, job: string): JobScore {
  const all = handOvers(history, job);
  const took = (how: HandOver['how']): number[] => all.filter((one) => one.how === how).map(({ tookMs }) => tookMs);
  return {
    job,
    leaders: history.terms.filter((term) => term.job === job).map(({ replica }) => replica),
    graceful: took('graceful'),
    kills: took('kill'),
    runs: history.runs.filter((run) => run.job === job).length,
    dropped: history.drops.get(job) ?? 0,
    overlapping: overlaps(history, job).length,
  };
}
