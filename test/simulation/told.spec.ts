import { describe, expect, it } from '@jest/globals';
import { inWords } from './play.js';
import { endOf, type Fate, type Fault, type FaultOf, type JobPlan, type PlacePlan, type Story } from './story.js';
import { World } from './world.js';

const CALM = {
  seed: 1,
  isHidden: false,
  canPublish: true,
  isOrdered: true,
  hasThread: false,
  isSplit: false,
  hasProxy: false,
  delayMs: [0.1, 1],
  storeRate: 1,
} as const;
const JOB = { kind: 'rate', periodMs: 1_000, runMs: 1, longRunMs: 1, isStubborn: false } as const;
const PLACE = { rate: 1, skewMs: 0, otherLifeMs: undefined, lacks: undefined };

interface Told {
  readonly lifeMs?: number;
  readonly jobs?: readonly Partial<JobPlan>[];
  readonly places?: readonly Partial<PlacePlan>[];
  readonly faults: readonly Fault[];
  /** How many terms there are in all. */
  readonly terms?: number;
}

/** Two replicas and a job of a fixed rate, with nothing in between that is not told. */
function story({ lifeMs = 10_000, jobs = [{}], places = [{}, {}], faults }: Told): Story {
  const setting = {
    ...CALM,
    lifeMs,
    timeoutMs: Math.min(1_500, lifeMs / 4),
    jobs: jobs.map((job, index) => ({ ...JOB, name: `j${index}`, lifeMs, ...job })),
    places: places.map((place, index) => ({ ...PLACE, startAt: 3 * index, ...place })),
  };
  return { setting, faults, endMs: Math.max(...faults.map(endOf)) + 60_000 };
}

function restart(at: number, ageMs: number, downMs: number, over: Partial<FaultOf<'restart'>> = {}): Fault {
  return { at, kind: 'restart', data: 'copy', ageMs, downMs, refuses: true, clockMs: 0, ...over };
}
/** What becomes of all writes. */
function noise(at: number, ms: number, fate: Fate, over: Partial<FaultOf<'noise'>> = {}): Fault {
  return { at, kind: 'noise', ms, share: 1, only: 'compareAndSet', place: undefined, fate, ...over };
}

function remove(at: number, place: number, name: string, backMs: number): Fault {
  return { at, kind: 'remove', place, name, backMs };
}
/** Rules that stories by chance seldom need. Each breaks without its rule. */
const RARE: Record<string, Told> = {
  'A write does nothing after `until`: a pause without an answer arrives after a resume': {
    faults: [
      noise(15_000, 2_200, 'late', { place: 1, lateMs: 4_000 }),
      { at: 15_000, kind: 'pause', place: 1, name: 'j0' },
      { at: 18_500, kind: 'resume', place: 0, name: 'j0' },
    ],
  },
  'A name with an unknown write is read until that can arrive no more: a take arrives after the job was removed': {
    places: [{}, { startAt: 20_000 }],
    faults: [
      remove(5_000, 0, 'j0', 100),
      noise(5_090, 30, 'late', { place: 0, lateMs: 4_000 }),
      remove(5_130, 0, 'j0', 200_000),
      { at: 60_000, kind: 'wall', place: 0, ms: 0 },
    ],
  },
  'An old pause does not come back when the store restarts again before the record is written': {
    faults: [
      { at: 5_000, kind: 'pause', place: 0, name: 'j0' },
      { at: 9_000, kind: 'resume', place: 0, name: 'j0' },
      noise(12_000, 1_500, 'rejected-before'),
      restart(12_010, 4_000, 20),
      restart(13_000, 0, 20, { data: 'kept' }),
    ],
  },
  'What was claimed elsewhere does not run again when a server of before comes back': {
    lifeMs: 800,
    jobs: [{ kind: 'cron', periodMs: 5_000 }],
    faults: [restart(3_000, 10, 20), { at: 5_100, kind: 'kill', place: 0 }, restart(5_110, 0, 20, { data: 'old' })],
  },
  'A leader that was refused its writes does not wait for the next one in another incarnation': {
    lifeMs: 800,
    jobs: [{ kind: 'cron' }],
    places: [{}],
    faults: [noise(5_000, 2_900, 'rejected-before'), restart(7_910, 0, 1, { data: 'kept' })],
    terms: 1,
  },
};

describe('The core keeps every rule', () => {
  it.each(Object.entries(RARE))('%s', async (_what, { terms, ...told }) => {
    const { rules } = await new World(story(told)).play();
    if (rules.violation !== undefined) throw new Error(await inWords(story(told)));
    expect(rules.terms).toBeGreaterThan(0);
    if (terms !== undefined) expect(rules.terms).toBe(terms);
  });
});
