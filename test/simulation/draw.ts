import fc from 'fast-check';
import { endOf, type Fault, type FaultOf, type JobPlan, type PlacePlan, type Story } from './story.js';

// All numbers shrink towards what is plain.
const unit = fc.nat(10_000).map((n) => n / 10_000);
/** Shrinks to false. */
const chance = (probability: number) => unit.map((x) => x > 1 - probability);
const between = (from: number, to: number) => unit.map((x) => from + (to - from) * x);
const logarithmic = (x: number, from: number, to: number) => Math.round(from * (Math.max(from, to) / from) ** x);
const oneOf = <T>(...choices: readonly (readonly [number, fc.Arbitrary<T>])[]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight: weight * 10, arbitrary })));
/** `most`: each is as likely. */
const listOf = <T>(arbitrary: fc.Arbitrary<T>, minLength: number, most: readonly number[]) =>
  fc.oneof(...most.map((maxLength) => fc.array(arbitrary, { minLength, maxLength, size: 'max' })));

// ---- What may happen

/** Drawn for each event. It uses what it needs. */
const numbers = fc.record({
  place: fc.nat(5),
  other: fc.nat(5),
  job: fc.nat(5),
  x: unit,
  y: unit,
  isA: fc.boolean(),
  isB: fc.boolean(),
  isRare: chance(0.2),
  sign: fc.constantFrom(1, -1),
  share: fc.constantFrom(0.1, 0.4, 0.8, 1),
  only: fc.constantFrom('compareAndSet' as const, 'compareAndSet', 'sync'),
  data: oneOf(
    [6, fc.constantFrom('kept' as const, 'copy', 'copy', 'copy', 'copy', 'none')],
    [1, fc.constant('old' as const)],
  ),
  clock: oneOf([3, fc.constant(0)], [1, unit]),
  crowd: fc.array(fc.record({ place: fc.nat(5), after: unit, x: unit }), { maxLength: 5 }),
});
type Numbers = typeof numbers extends fc.Arbitrary<infer T> ? T : never;

/** Where in a story it happens. */
interface Spot extends Numbers {
  readonly at: number;
  readonly name: string;
  /** `lockExpiry` of the job. */
  readonly lifeMs: number;
  readonly shortestMs: number;
  readonly delayMs: number;
}

const aroundLife = ({ x, lifeMs, shortestMs }: Spot): number => logarithmic(x, 0.02 * shortestMs, 2.5 * lifeMs);
const backMs = ({ isRare, x, lifeMs }: Spot) => (isRare ? undefined : logarithmic(x, 20, 3 * lifeMs));

function restart({ at, x, y, data, lifeMs, clock, sign, ...is }: Spot): FaultOf<'restart'> {
  const ageMs = Math.min(at, is.isA ? logarithmic(x, 1, 1_000) : logarithmic(x, 1_000, 90_000));
  const downMs = logarithmic(y, 1, (is.isRare ? 2 : 0.8) * lifeMs);
  const clockMs = clock === 0 ? 0 : sign * logarithmic(clock, 1, clock > 0.8 ? 180_000 : 3_000);
  return { at, kind: 'restart', data, ageMs, downMs, refuses: is.isB, clockMs };
}

/** How often each kind of event is drawn, and what happens then. */
const EVENTS: Record<string, readonly [number, (spot: Spot) => readonly Fault[]]> = {
  restart: [4, (spot) => [restart(spot)]],
  flush: [1, ({ at }) => [{ at, kind: 'flush' }]],
  'lose-leases': [0.4, ({ at }) => [{ at, kind: 'lose-leases' }]],
  'lose-record': [0.4, ({ at, name }) => [{ at, kind: 'lose-record', name }]],
  spoil: [0.4, ({ at, x, name, lifeMs }) => [{ at, kind: 'spoil', name, ms: logarithmic(x, 100, 3 * lifeMs) }]],
  jump: [1.2, ({ at, x, isA, sign }) => [{ at, kind: 'jump', ms: (isA ? -1 : sign) * logarithmic(x, 1_000, 180_000) }]],
  stall: [1, ({ at, x, lifeMs }) => [{ at, kind: 'stall', ms: logarithmic(x, 20, 1.2 * lifeMs) }]],
  noise: [
    3,
    ({ at, x, share, lifeMs, ...is }) => {
      const of = { place: is.isA ? is.place : undefined, only: is.isB ? is.only : undefined };
      return [{ at, kind: 'noise', ms: logarithmic(x, 100, 4 * lifeMs), share, ...of }];
    },
  ],
  hints: [
    1.5,
    ({ at, x, share, place, isA }) => [
      { at, kind: 'hints', ms: logarithmic(x, 500, 30_000), share, place: isA ? place : undefined },
    ],
  ],
  deaf: [0.5, ({ at, x, place }) => [{ at, kind: 'deaf', place, ms: logarithmic(x, 500, 30_000) }]],
  cut: [
    3,
    (spot) => {
      const { at, place, isA, isB } = spot;
      return [{ at, kind: 'cut', place, ms: aroundLife(spot), isThreadCut: !isA, isLoud: isB }];
    },
  ],
  block: [1.5, (spot) => [{ at: spot.at, kind: 'block', place: spot.place, ms: aroundLife(spot) }]],
  freeze: [1.2, (spot) => [{ at: spot.at, kind: 'freeze', place: spot.place, ms: aroundLife(spot) }]],
  suspend: [0.7, (spot) => [{ at: spot.at, kind: 'suspend', place: spot.place, ms: aroundLife(spot) }]],
  wall: [0.7, ({ at, x, sign, place }) => [{ at, kind: 'wall', place, ms: sign * logarithmic(x, 100, 60_000) }]],
  kill: [2, (spot) => [{ at: spot.at, kind: 'kill', place: spot.place, backMs: backMs(spot) }]],
  crash: [0.7, (spot) => [{ at: spot.at, kind: 'crash', place: spot.place, backMs: backMs(spot) }]],
  stop: [2, (spot) => [{ at: spot.at, kind: 'stop', place: spot.place, backMs: backMs(spot) }]],
  start: [0.7, ({ at, place }) => [{ at, kind: 'start', place }]],
  remove: [0.7, ({ at, x, place, name }) => [{ at, kind: 'remove', place, name, backMs: logarithmic(x, 50, 40_000) }]],
  pause: [
    0.8,
    ({ at, x, place, other, name, isRare }) => {
      const resume: Fault = { at: at + 100 + 15_000 * x, kind: 'resume', place: other, name };
      return [{ at, kind: 'pause', place, name }, ...(isRare ? [] : [resume])];
    },
  ],
  resume: [0.8, ({ at, place, name }) => [{ at, kind: 'resume', place, name }]],
  'step-down': [1, ({ at, place, name }) => [{ at, kind: 'step-down', place, name }]],
  'give-back': [0.6, ({ at, place, name }) => [{ at, kind: 'give-back', place, name }]],
  trigger: [1.2, ({ at, place, name }) => [{ at, kind: 'trigger', place, name }]],
  lock: [
    1.5,
    ({ at, x, y, place, lifeMs, delayMs, isA, crowd }) => {
      const lock = { kind: 'lock', waitMs: Math.round(3 * lifeMs * x) } as const;
      const others = crowd.map((one) => {
        const soon = at + one.after * (60 + 3 * delayMs);
        return { ...lock, at: soon, place: one.place, holdMs: logarithmic(one.x, 1, 40) };
      });
      return [{ ...lock, at, place, holdMs: logarithmic(y, 1, 2 * lifeMs) }, ...(isA ? others : [])];
    },
  ],
};

const HAND_OVERS = ['stop', 'step-down', 'give-back', 'crash', 'remove', 'trigger', 'lock'];
/** Stories of one kind, in which faults meet that seldom meet by chance. `failover`: how often a restart follows a hand-over. */
const THEMES = [
  { weight: 11, kinds: Object.keys(EVENTS), failover: 0.15 },
  { weight: 3, kinds: HAND_OVERS, failover: 0.8 },
  { weight: 3, kinds: ['pause', 'resume', 'trigger', 'step-down', 'noise', 'hints', 'deaf', 'kill'], failover: 0.15 },
  { weight: 3, kinds: ['remove', 'lock', 'stop', 'noise', 'cut'], failover: 0.15 },
];
type Theme = (typeof THEMES)[number];

function drawEvent({ kinds, failover }: Theme) {
  return fc.record({
    kind: oneOf(...kinds.map((kind) => [EVENTS[kind]?.[0] ?? 0, fc.constant(kind)] as const)),
    /** In lives. */
    gap: oneOf([11, between(0, 0.4)], [7, between(0, 2)], [2, between(0, 6)]),
    numbers,
    isFollowed: chance(failover),
    failover: fc.record({ after: unit, age: unit, down: unit }),
  });
}

// ---- Where it happens

const PERIODS_MS = { rate: [500, 1_000, 2_000], cron: [1_000, 2_000, 5_000], interval: [300, 2_000, 5_000, 12_000] };
const DELAYS_MS = [[0.1, 1] as const, [0.1, 5] as const, [1, 20] as const, [0.1, 40] as const];
const LONG_MS = 10_000;
const SHORT_MS = 800;

const job = fc.record({
  kind: fc.constantFrom('rate' as const, 'interval', 'cron', 'cron'),
  isShort: fc.boolean(),
  period: fc.nat(11),
  runMs: fc.constantFrom(5, 50, 400),
  longRunMs: fc.constantFrom(100, 1_500, 6_000, 12_000),
  isStubborn: chance(0.15),
});

const place = fc.record({
  delayMs: oneOf([4, fc.constant(0)], [1, between(0, 12_000)]),
  rate: oneOf([1, fc.constant(1)], [1, between(0.99, 1.01)]),
  skewMs: oneOf([1, fc.constant(0)], [1, between(-400, 400)]),
  hasOtherLife: fc.boolean(),
  isWithoutJob: fc.boolean(),
});

const storyOf = (theme: Theme) =>
  fc.record({
    setting: fc.record({
      seed: fc.noShrink(fc.nat()),
      isHidden: chance(0.06),
      canPublish: chance(0.06).map((is) => !is),
      isOrdered: fc.boolean().map((is) => !is),
      hasThread: chance(0.35),
      isSplit: chance(0.15),
      hasProxy: chance(theme.failover > 0.5 ? 0.7 : 0.25),
      delayMs: fc.constantFrom(...DELAYS_MS),
      storeRate: oneOf([7, fc.constant(1)], [3, between(0.995, 1.005)]),
    }),
    places: listOf(place, 2, [3, 4, 6]),
    jobs: listOf(job, 1, [2, 3, 6]),
    lives: fc.constantFrom('long' as const, 'short', 'short', 'both'),
    isLifeChanged: chance(0.4),
    isJobNew: chance(0.15),
    beginMs: oneOf([9, between(2_000, 6_000)], [1, between(20_000, 90_000)]),
    events: listOf(drawEvent(theme), 1, [2, 4, 8, 12]),
  });
type Drawn = ReturnType<typeof storyOf> extends fc.Arbitrary<infer T> ? T : never;

function jobsOf({ jobs, lives }: Drawn): readonly JobPlan[] {
  return jobs.map(({ kind, isShort, period, ...job }, index) => {
    const lifeMs = lives === 'short' || (lives === 'both' && isShort) ? SHORT_MS : LONG_MS;
    const periodMs = PERIODS_MS[kind][period % PERIODS_MS[kind].length] ?? 0;
    const graceMs = 8_000 + 2 * lifeMs + Math.min(3_000, lifeMs / 4);
    return { name: `j${index}`, kind, lifeMs, periodMs, graceMs, ...job };
  });
}

/** A deploy may change `lockExpiry` of the first job, or add the last. */
function placesOf({ places, lives, isLifeChanged, isJobNew }: Drawn, jobs: readonly JobPlan[]): readonly PlacePlan[] {
  const otherLives = { j0: jobs[0]?.lifeMs === SHORT_MS ? LONG_MS : SHORT_MS };
  return places.map(({ delayMs, rate, skewMs, hasOtherLife, isWithoutJob }, index) => ({
    startAt: delayMs > 0 ? delayMs : 3 * index,
    rate,
    skewMs,
    otherLives: lives === 'both' && isLifeChanged && hasOtherLife ? otherLives : {},
    without: isJobNew && jobs.length > 1 && isWithoutJob && index > 0 ? [`j${jobs.length - 1}`] : [],
  }));
}

function toStory(drawn: Drawn): Story {
  const { setting, lives, events, beginMs } = drawn;
  const jobs = jobsOf(drawn);
  const places = placesOf(drawn, jobs);
  const lifeMs = lives === 'short' ? SHORT_MS : LONG_MS;
  const all = [...jobs.map((one) => one.lifeMs), ...places.flatMap(({ otherLives }) => Object.values(otherLives))];
  const [shortestMs, longestMs, delayMs] = [Math.min(...all), Math.max(lifeMs, ...all), setting.delayMs[1]];
  let now = beginMs;
  const faults = events.flatMap(({ kind, gap, numbers, isFollowed, failover }): readonly Fault[] => {
    const { name, ...on } = jobs[numbers.job % jobs.length] as JobPlan;
    now += gap * (jobs[0]?.lifeMs ?? lifeMs);
    const at = Math.round(10 * now) / 10;
    const [first, second] = [numbers.place % places.length, numbers.other % places.length];
    const spot = { ...numbers, at, place: first, other: second, name, lifeMs: on.lifeMs, shortestMs, delayMs };
    const made = EVENTS[kind]?.[1](spot) ?? [];
    if (!isFollowed || !HAND_OVERS.includes(kind)) return made;
    const soon = restart({ ...spot, at: at + failover.after * (60 + 3 * delayMs) });
    return [...made, { ...soon, ageMs: logarithmic(failover.age, 1, 200), downMs: logarithmic(failover.down, 1, 60) }];
  });

  // late requests, lost messages and quiet times come to an end; at last somebody takes the lock that others have used
  const isLate = faults.some(({ kind }) => kind === 'noise' || kind === 'cut');
  const calmAt = Math.max(...faults.map(endOf)) + (isLate ? 30_000 : 0) + 12_000 + 2.5 * longestMs;
  const isLocked = faults.some(({ kind }) => kind === 'lock');
  const last = {
    at: calmAt,
    kind: 'lock',
    place: -1,
    waitMs: 3 * longestMs + 3_000,
    holdMs: 10,
    isLast: true,
  } as const;
  const timeoutMs = Math.min(1_500, shortestMs === SHORT_MS ? 200 : 2_500);
  const hasProxy = setting.hasProxy && !setting.isHidden;
  return {
    setting: { ...setting, places, jobs, lifeMs, timeoutMs, hasProxy },
    faults: [...faults, ...(isLocked ? [last] : [])].sort((a, b) => a.at - b.at),
    endMs: calmAt + (isLocked ? 3 * longestMs + 4_000 : 8_000),
  };
}

/** A story by chance. */
export const anyStory: fc.Arbitrary<Story> = oneOf(
  ...THEMES.map((theme) => [theme.weight, storyOf(theme)] as const),
).map(toStory);
