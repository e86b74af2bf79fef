import { endOf, type Fault, type FaultOf, type JobPlan, type PlacePlan, type Story } from './story.js';

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
  observerMs: 0,
  webs: 0,
} as const;
const JOB = { kind: 'rate', periodMs: 1_000, runMs: 1, longRunMs: 1, isStubborn: false } as const;
const PLACE = { rate: 1, skewMs: 0, other: {}, lacks: undefined };

/** What is written of a story. The rest is calm. */
export interface WrittenStory {
  readonly jobs: readonly Partial<JobPlan>[];
  readonly ttlMs?: number;
  readonly places?: readonly Partial<PlacePlan>[];
  readonly faults: readonly Fault[];
}

/** Two replicas, if no places are written, with nothing in between that is not written. */
export function story({ jobs, ttlMs = 10_000, places = [{}, {}], faults }: WrittenStory): Story {
  const setting = {
    ...CALM,
    ttlMs,
    timeoutMs: Math.min(1_500, ttlMs / 4),
    jobs: jobs.map((job, n) => ({ ...JOB, name: `j${n}`, ttlMs, ...job })),
    places: places.map((place, n) => ({ ...PLACE, startAt: 3 * n, ...place })),
  };
  return { setting, faults, endMs: Math.max(...faults.map(endOf)) + 60_000 };
}

export function restart(at: number, ageMs: number, downMs: number, over: Partial<FaultOf<'restart'>> = {}): Fault {
  return { at, kind: 'restart', data: 'copy', ageMs, downMs, refuses: true, clockMs: 0, ...over };
}
