import { describe, expect, it } from '@jest/globals';
import { PAIRS } from './pairs.js';
import { inWords, playPairs } from './play.js';
import { type Fault, type JobPlan } from './story.js';
import { World } from './world.js';
import { story, type WrittenStory } from './written-story.js';

const JOBS: readonly Partial<JobPlan>[] = [
  { kind: 'rate' },
  { kind: 'interval', periodMs: 900 },
  { kind: 'cron' },
  { kind: 'interval', periodMs: 300 },
];

const stop = (at: number, place: number, backMs: number): Fault => ({ at, kind: 'stop', place, backMs });
const block = (at: number, place: number, ms: number): Fault => ({ at, kind: 'block', place, ms });

/** Too rare to be met by chance. */
const RARE: Record<string, Omit<WrittenStory, 'jobs'>> = {
  'a cron job is of another kind for a while, and the clock of the store is set back': {
    places: [{ other: { kind: 'cron', periodMs: 1_000 } }, {}],
    faults: [{ at: 30_000, kind: 'jump', byMs: -20_000 }, stop(31_000, 0, 500), stop(33_000, 1, 500)],
  },
  'a leader dies before it answers a trigger, and the clock of the store is set back': {
    faults: [
      block(20_000, 0, 5_000),
      { at: 20_100, kind: 'trigger', place: 1, name: 'j0' },
      { at: 21_000, kind: 'kill', place: 0, backMs: 100 },
      { at: 22_000, kind: 'jump', byMs: -60_000 },
      { at: 50_000, kind: 'trigger', place: 1, name: 'j0' },
    ],
  },
};

describe('The core keeps every rule', () => {
  it('in pairs of faults', async () => {
    // a prime, so that all moments and faults are among them
    const pairs = Array.from({ length: 20 }, (_, n) => (n * 1_873) % PAIRS);
    // a request that hangs, and a wall clock that is set back, before the host is suspended
    expect((await playPairs([...pairs, 52_516, 52_831])).failure).toBeUndefined();
  });

  it.each(Object.entries(RARE))('when %s', async (_what, written) => {
    const { rules } = await new World(story({ jobs: JOBS, ...written })).play();
    expect(rules.violation && (await inWords(story({ jobs: JOBS, ...written })))).toBeUndefined();
  });
});
