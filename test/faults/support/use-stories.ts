import { beforeAll, expect, it } from '@jest/globals';
import { type Fault } from '../../../tools/faults/fault.js';
import { type Act, inWords, play, type Story, type Told } from '../../../tools/faults/story.js';
import { SLACK_MS } from '../../support/busy-machine.js';

/** The first start on a fresh machine fetches Redis; on a busy one everything takes longer. */
const LIMIT_MS = 800_000;
const PAUSE_MS = 300;

export interface Stories {
  /** What came of a fault. Throws what kept its story from being told. */
  readonly of: (fault: Fault) => Told;
}

/**
 * Lets the faults strike before the tests of a file, shared out among this many fleets: those mostly wait, and do so side by
 * side. Each test then looks at its own fault; one more at the whole record of every fleet.
 */
export function useStories(faults: readonly Fault[], { fleets }: { readonly fleets: number }): Stories {
  const shares = Array.from({ length: fleets }, (_, share) => faults.filter((_, index) => index % fleets === share));
  return useActs(shares.map((share) => share.map((fault) => ({ faults: [fault], pauseMs: PAUSE_MS }))));
}

/** One fleet for each list of acts. */
export function useActs(stories: readonly (readonly Act[])[]): Stories {
  const episodes = new Map<string, Told>();
  const told: Story[] = [];
  const failures: Error[] = [];
  beforeAll(async () => {
    const main = process.env['FAULTS_REPLICA'] ?? '';
    const plays = stories.map((acts, index) => play(acts, { main, seed: index + 1 }));
    for (const end of await Promise.allSettled(plays)) {
      if (end.status === 'fulfilled') told.push(end.value);
      else failures.push(end.reason as Error);
    }
    for (const episode of told.flatMap((story) => story.episodes)) {
      for (const { name } of episode.faults) if (!episodes.has(name)) episodes.set(name, episode);
    }
  }, LIMIT_MS);

  it('and in the end every promise was kept, on every fleet', () => {
    expect(failures).toEqual([]);
    expect(told.flatMap(({ violations }) => violations.map(inWords))).toEqual([]);
    expect(told.flatMap(({ unexpected }) => unexpected)).toEqual([]);
    for (const episode of told.flatMap(({ episodes }) => episodes)) expectKept(episode);
  });

  return {
    of: ({ name }) => {
      const episode = episodes.get(name);
      if (episode === undefined) throw failures[0] ?? new Error(`'${name}' did not strike`);
      return episode;
    },
  };
}

/** What is added where the machine is so busy that words take long to be heard. */
const MORE_PER_LAG = 10;

/** Nothing overlapped, started late, started twice or was lost, and the jobs were led again, in time for a busy machine. */
export function expectKept({ violations, leaderlessMs, idleMs, lagMs, bound }: Told): void {
  expect(violations.map(inWords)).toEqual([]);
  const withinMs = bound.ms + SLACK_MS + MORE_PER_LAG * lagMs;
  expect(leaderlessMs).toBeLessThanOrEqual(withinMs);
  expect(idleMs).toBeLessThanOrEqual(withinMs);
}
