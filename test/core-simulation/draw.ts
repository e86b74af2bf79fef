import fc from 'fast-check';
import { endOf, type Fault, type JobPlan, type PlacePlan, type Story } from './story.js';

/** Where in a story something happens. */
interface Spot {
  readonly at: number;
  readonly place: number;
  /** Of another process, or the same one. */
  readonly other: number;
  readonly name: string;
  /** `lockExpiry` of the job. */
  readonly lifeMs: number;
  readonly shortestMs: number;
  readonly delayMs: number;
}
type Draft = (spot: Spot) => readonly Fault[];

// ---- Numbers. All shrink towards what is plain.

/** In [0, 1]. */
const unit = fc.nat(10_000).map((n) => n / 10_000);
/** Shrinks to false. */
const chance = (probability: number) => unit.map((x) => x > 1 - probability);
const between = (from: number, to: number) => fc.nat(1_000).map((n) => from + ((to - from) * n) / 1_000);
const logarithmic = (x: number, from: number, to: number) => Math.round(from * (Math.max(from, to) / from) ** x);
const sign = fc.constantFrom(1, -1);

// ---- What may happen

const restart = fc.record({
  data: fc.constantFrom('kept' as const, 'copy', 'copy', 'copy', 'copy', 'none'),
  isRecent: chance(0.5),
  age: unit,
  down: unit,
  isLong: chance(0.3),
  refuses: chance(0.6),
  comesBack: chance(0.1),
  isJump: chance(0.25),
  jump: unit,
  sign,
});
type RestartDraft = typeof restart extends fc.Arbitrary<infer T> ? T : never;

function restartAt({ at, lifeMs }: Spot, draft: RestartDraft): Fault {
  const { data, refuses, comesBack } = draft;
  const ageMs = draft.isRecent ? logarithmic(draft.age, 1, 1_000) : logarithmic(draft.age, 1_000, 90_000);
  const downMs = logarithmic(draft.down, 1, (draft.isLong ? 2 : 0.8) * lifeMs);
  const clockMs = draft.isJump ? draft.sign * logarithmic(draft.jump, 1, draft.jump > 0.8 ? 180_000 : 3_000) : 0;
  return { at, kind: 'restart', data, ageMs: Math.min(ageMs, at), downMs, refuses, comesBack, clockMs };
}

const aroundLife = ({ lifeMs, shortestMs }: Spot, x: number): number => logarithmic(x, 0.02 * shortestMs, 2.5 * lifeMs);

/** How often each kind is drawn, and what it is. */
const KINDS: Record<string, readonly [number, fc.Arbitrary<Draft>]> = {
  restart: [4, restart.map((draft) => (spot) => [restartAt(spot, draft)])],
  flush: [1, fc.constant(({ at }) => [{ at, kind: 'flush' }])],
  'lose-leases': [0.4, fc.constant(({ at }) => [{ at, kind: 'lose-leases' }])],
  'lose-record': [0.4, fc.constant(({ at, name }) => [{ at, kind: 'lose-record', name }])],
  jump: [
    1.2,
    fc
      .tuple(unit, fc.constantFrom(-1, -1, 1))
      .map(([x, by]) => ({ at }) => [{ at, kind: 'jump', ms: by * logarithmic(x, 1_000, 180_000) }]),
  ],
  stall: [1, unit.map((x) => ({ at, lifeMs }) => [{ at, kind: 'stall', ms: logarithmic(x, 20, 1.2 * lifeMs) }])],
  noise: [
    3,
    fc
      .record({
        x: unit,
        share: fc.constantFrom(0.1, 0.4, 0.8, 1),
        isOfOne: chance(0.5),
        isOfKind: chance(0.5),
        only: fc.constantFrom('compareAndSet' as const, 'compareAndSet', 'sync'),
      })
      .map(({ x, share, isOfOne, isOfKind, only }) => ({ at, lifeMs, place }) => [
        {
          at,
          kind: 'noise',
          ms: logarithmic(x, 100, 4 * lifeMs),
          share,
          place: isOfOne ? place : undefined,
          only: isOfKind ? only : undefined,
        },
      ]),
  ],
  hints: [
    1.5,
    fc
      .record({ x: unit, share: fc.constantFrom(0.3, 1), isOfOne: chance(0.4) })
      .map(({ x, share, isOfOne }) => ({ at, place }) => [
        { at, kind: 'hints', ms: logarithmic(x, 500, 30_000), share, place: isOfOne ? place : undefined },
      ]),
  ],
  deaf: [0.5, unit.map((x) => ({ at, place }) => [{ at, kind: 'deaf', place, ms: logarithmic(x, 500, 30_000) }])],
  cut: [
    3,
    fc
      .record({ x: unit, isThreadCut: chance(0.7), isLoud: chance(0.3) })
      .map(({ x, ...how }) => (spot) => [
        { at: spot.at, kind: 'cut', place: spot.place, ms: aroundLife(spot, x), ...how },
      ]),
  ],
  ...Object.fromEntries(
    (
      [
        ['block', 1.5],
        ['freeze', 1.2],
        ['suspend', 0.7],
      ] as const
    ).map(([kind, weight]) => [
      kind,
      [weight, unit.map((x): Draft => (spot) => [{ at: spot.at, kind, place: spot.place, ms: aroundLife(spot, x) }])],
    ]),
  ),
  wall: [
    0.7,
    fc
      .tuple(unit, sign)
      .map(([x, by]) => ({ at, place }) => [{ at, kind: 'wall', place, ms: by * logarithmic(x, 100, 60_000) }]),
  ],
  ...Object.fromEntries(
    (
      [
        ['kill', 2],
        ['crash', 0.7],
        ['stop', 2],
      ] as const
    ).map(([kind, weight]) => [
      kind,
      [
        weight,
        fc
          .tuple(chance(0.7), unit)
          .map(([isBack, x]): Draft => ({ at, place, lifeMs }) => [
            { at, kind, place, backMs: isBack ? logarithmic(x, 20, 3 * lifeMs) : undefined },
          ]),
      ],
    ]),
  ),
  start: [0.7, fc.constant(({ at, place }) => [{ at, kind: 'start', place }])],
  remove: [
    0.7,
    unit.map((x) => ({ at, place, name }) => [{ at, kind: 'remove', place, name, backMs: logarithmic(x, 50, 40_000) }]),
  ],
  pause: [
    0.8,
    fc.tuple(chance(0.2), between(100, 15_000)).map(([isAlone, ms]) => ({ at, place, other, name }) => {
      const resume: Fault = { at: at + ms, kind: 'resume', place: other, name };
      return [{ at, kind: 'pause', place, name }, ...(isAlone ? [] : [resume])];
    }),
  ],
  resume: [0.8, fc.constant(({ at, place, name }) => [{ at, kind: 'resume', place, name }])],
  'step-down': [1, fc.constant(({ at, place, name }) => [{ at, kind: 'step-down', place, name }])],
  trigger: [1.2, fc.constant(({ at, place, name }) => [{ at, kind: 'trigger', place, name }])],
  lock: [
    1.5,
    fc
      .record({
        wait: unit,
        hold: unit,
        crowd: fc.array(fc.record({ place: fc.nat(5), later: unit, hold: unit }), { maxLength: 5 }),
      })
      .map(({ wait, hold, crowd }) => ({ at, place, lifeMs, delayMs }) => {
        const waitMs = Math.round(3 * lifeMs * wait);
        const others = crowd.map((one): Fault => ({
          at: at + one.later * (60 + 3 * delayMs),
          kind: 'lock',
          place: one.place,
          waitMs,
          holdMs: logarithmic(one.hold, 1, 40),
        }));
        return [{ at, kind: 'lock', place, waitMs, holdMs: logarithmic(hold, 1, 2 * lifeMs) }, ...others];
      }),
  ],
};

const HAND_OVERS = ['stop', 'step-down', 'crash', 'remove', 'trigger', 'lock'];
/** Stories of one kind, in which faults meet that seldom meet by chance. `failover`: how often a restart follows a hand-over. */
const THEMES = {
  any: { weight: 11, kinds: Object.keys(KINDS), failover: 0.15 },
  failover: { weight: 3, kinds: HAND_OVERS, failover: 0.8 },
  steering: {
    weight: 3,
    kinds: ['pause', 'resume', 'trigger', 'step-down', 'noise', 'hints', 'deaf', 'kill'],
    failover: 0.15,
  },
  leaving: { weight: 3, kinds: ['remove', 'lock', 'stop', 'noise', 'cut'], failover: 0.15 },
};

function drawEvent({ kinds, failover }: (typeof THEMES)['any']) {
  const drafts = kinds.map((kind) => {
    const [weight, draft] = KINDS[kind] ?? [0, fc.constant<Draft>(() => [])];
    return { weight: weight * 10, arbitrary: draft.map((make) => ({ kind, make })) };
  });
  return fc.record({
    /** In lives. */
    gap: fc.oneof(
      { weight: 11, arbitrary: between(0, 0.4) },
      { weight: 7, arbitrary: between(0, 2) },
      { weight: 2, arbitrary: between(0, 6) },
    ),
    place: fc.nat(5),
    other: fc.nat(5),
    job: fc.nat(5),
    draft: fc.oneof(...drafts),
    isFollowed: chance(failover),
    failover: fc.record({ after: unit, restart, age: unit, down: unit }),
  });
}

// ---- Where it happens

const job = fc.record({
  kind: fc.constantFrom('rate' as const, 'interval', 'cron', 'cron'),
  isShort: fc.boolean(),
  period: fc.nat(11),
  runMs: fc.constantFrom(5, 50, 400),
  longRunMs: fc.constantFrom(100, 1_500, 6_000, 12_000),
});
const PERIODS_MS = { rate: [500, 1_000, 2_000], cron: [1_000, 2_000, 5_000], interval: [300, 2_000, 5_000, 12_000] };

const DELAYS_MS: readonly (readonly [number, number])[] = [
  [0.1, 1],
  [0.1, 5],
  [1, 20],
  [0.1, 40],
];

const place = fc.record({
  delay: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: between(0, 12_000) }),
  rate: fc.oneof(fc.constant(1), between(0.99, 1.01)),
  skewMs: fc.oneof(fc.constant(0), between(-400, 400)),
  hasOtherLife: fc.boolean(),
  isWithoutJob: fc.boolean(),
});

const story = (theme: (typeof THEMES)['any']) =>
  fc.record({
    seed: fc.noShrink(fc.nat()),
    places: sized(place, 2, [3, 4, 6]),
    jobs: sized(job, 1, [2, 3, 6]),
    lives: fc.constantFrom('long' as const, 'short', 'short', 'both'),
    isLifeChanged: chance(0.4),
    isJobNew: chance(0.15),
    isHidden: chance(0.06),
    isMute: chance(0.06),
    isUnordered: chance(0.5),
    hasThread: chance(0.35),
    isSplit: chance(0.15),
    hasProxy: chance(theme.failover > 0.5 ? 0.7 : 0.25),
    delayMs: fc.constantFrom(...DELAYS_MS),
    storeRate: fc.oneof({ weight: 7, arbitrary: fc.constant(1) }, { weight: 3, arbitrary: between(0.995, 1.005) }),
    beginMs: fc.oneof(
      { weight: 9, arbitrary: between(2_000, 6_000) },
      { weight: 1, arbitrary: between(20_000, 90_000) },
    ),
    events: sized(drawEvent(theme), 1, [2, 4, 8, 12]),
  });

function sized<T>(arbitrary: fc.Arbitrary<T>, minLength: number, most: readonly number[]): fc.Arbitrary<T[]> {
  return fc.oneof(...most.map((maxLength) => fc.array(arbitrary, { minLength, maxLength, size: 'max' })));
}

type StoryDraft = ReturnType<typeof story> extends fc.Arbitrary<infer T> ? T : never;

const LONG_MS = 10_000;
const SHORT_MS = 800;

function jobsOf({ jobs, lives }: StoryDraft): readonly JobPlan[] {
  return jobs.map(({ kind, isShort, period, runMs, longRunMs }, index) => {
    const lifeMs = lives === 'short' || (lives === 'both' && isShort) ? SHORT_MS : LONG_MS;
    const periods = PERIODS_MS[kind];
    const periodMs = periods[period % periods.length] ?? 1_000;
    const graceMs = 8_000 + 2 * lifeMs + Math.min(3_000, lifeMs / 4);
    return { name: `j${index}`, kind, lifeMs, periodMs, runMs, longRunMs, graceMs };
  });
}

/** A deploy may change `lockExpiry` of the first job, or add the last. */
function placesOf(
  { places, lives, isLifeChanged, isJobNew }: StoryDraft,
  jobs: readonly JobPlan[],
): readonly PlacePlan[] {
  const [first, last] = [jobs[0], jobs.at(-1)];
  return places.map(({ delay, rate, skewMs, hasOtherLife, isWithoutJob }, index) => {
    const isOther = lives === 'both' && isLifeChanged && hasOtherLife && first !== undefined;
    const isWithout = isJobNew && jobs.length > 1 && isWithoutJob && index > 0 && last !== undefined;
    return {
      startAt: delay > 0 ? delay : 3 * index,
      rate,
      skewMs,
      otherLives: isOther ? { [first.name]: first.lifeMs === SHORT_MS ? LONG_MS : SHORT_MS } : {},
      without: isWithout ? [last.name] : [],
    };
  });
}

function toStory(draft: StoryDraft): Story {
  const { seed, lives, isHidden, isMute, isUnordered, hasThread, isSplit, hasProxy, delayMs, storeRate } = draft;
  const jobs = jobsOf(draft);
  const places = placesOf(draft, jobs);
  const all = [...jobs.map(({ lifeMs }) => lifeMs), ...places.flatMap(({ otherLives }) => Object.values(otherLives))];
  const shortestMs = Math.min(...all);
  const pace = jobs[0]?.lifeMs ?? LONG_MS;
  let at = draft.beginMs;
  const faults = draft.events
    .flatMap((event): readonly Fault[] => {
      at = Math.round(10 * (at + event.gap * pace)) / 10;
      const on = jobs[event.job % jobs.length] as JobPlan;
      const spot = {
        at,
        place: event.place % places.length,
        other: event.other % places.length,
        name: on.name,
        lifeMs: on.lifeMs,
        shortestMs,
        delayMs: delayMs[1],
      };
      const made = event.draft.make(spot);
      if (!event.isFollowed || !HAND_OVERS.includes(event.draft.kind)) return made;
      const { after, age, down } = event.failover;
      const soon = at + after * (60 + 3 * delayMs[1]);
      const base = restartAt({ ...spot, at: soon }, event.failover.restart);
      return [...made, { ...base, ageMs: logarithmic(age, 1, 200), downMs: logarithmic(down, 1, 60) } as Fault];
    })
    .sort((a, b) => a.at - b.at);

  const longestMs = Math.max(LONG_MS * Number(lives !== 'short'), ...all);
  // late requests, lost messages and quiet times come to an end
  const isLate = faults.some(({ kind }) => kind === 'noise' || kind === 'cut');
  const calmAt = Math.max(...faults.map(endOf)) + (isLate ? 30_000 : 0) + 12_000 + 2.5 * longestMs;
  const isLocked = faults.some(({ kind }) => kind === 'lock');
  const last: Fault = { at: calmAt, kind: 'lock', place: -1, waitMs: 3 * longestMs + 3_000, holdMs: 10, isLast: true };
  return {
    setting: {
      seed,
      places,
      jobs,
      isHidden,
      hasThread,
      isSplit,
      delayMs,
      storeRate,
      lifeMs: lives === 'short' ? SHORT_MS : LONG_MS,
      canPublish: !isMute,
      isOrdered: !isUnordered,
      hasProxy: hasProxy && !isHidden,
      timeoutMs: Math.min(1_500, shortestMs === SHORT_MS ? 200 : 2_500),
    },
    faults: [...faults, ...(isLocked ? [last] : [])],
    endMs: calmAt + (isLocked ? 3 * longestMs + 4_000 : 8_000),
  };
}

/** A story by chance. */
export const anyStory: fc.Arbitrary<Story> = fc
  .oneof(...Object.values(THEMES).map((theme) => ({ weight: theme.weight, arbitrary: story(theme) })))
  .map(toStory);
