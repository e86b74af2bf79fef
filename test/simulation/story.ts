import fc from 'fast-check';

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

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

/** Drawn for each fault. It uses what it needs. */
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
  command: fc.constantFrom('pause' as const, 'resume', 'trigger', 'stepDown', 'pauseAll', 'resumeAll'),
  only: fc.constantFrom('compareAndSet' as const, 'compareAndSet', 'sync'),
  data: fc.constantFrom('kept' as const, 'copy', 'copy', 'copy', 'copy', 'none', 'old', 'rolled-back'),
  clock: oneOf([3, fc.constant(0)], [1, unit]),
  crowd: fc.array(fc.record({ place: fc.nat(5), after: unit, x: unit }), { maxLength: 5 }),
});

/** Where in a story it happens. */
interface Spot extends Drawn<typeof numbers> {
  readonly at: number;
  readonly name: string;
  /** `lockExpiry` of the job. */
  readonly ttlMs: number;
  readonly shortestMs: number;
  readonly delayMs: number;
}

// Parts of faults
const ofPlace = ({ place }: Spot) => ({ place });
const ofJob = ({ place, name }: Spot) => ({ place, name });
const lasting = (from: number, ttlCount: number) => (spot: Spot) => ({
  ms: logarithmic(spot.x, from, ttlCount * spot.ttlMs),
});
const around = (spot: Spot) => ({
  ...ofPlace(spot),
  ms: logarithmic(spot.x, 0.02 * spot.shortestMs, 2.5 * spot.ttlMs),
});
/** `backMs` undefined: it does not come back. */
const back = ({ place, isRare, x, ttlMs }: Spot): { place: number; backMs?: number | undefined } => ({
  place,
  backMs: isRare ? undefined : logarithmic(x, 20, 3 * ttlMs),
});
/** `untilMs` undefined: it does not end by itself. */
const pause = ({ isA, y, ttlMs }: Spot) => ({ untilMs: isA ? logarithmic(y, 500, 3 * ttlMs) : undefined });
/** `place` undefined: of all. */
const some = ({ share, place, isA }: Spot) => ({ share, place: isA ? place : undefined });
const messagesMs = ({ x }: Spot) => logarithmic(x, 500, 30_000);

function restart({ at, x, y, data, ttlMs, clock, sign, isA, isB, isRare }: Spot) {
  return {
    /**
     * Those of the last server, a copy or snapshot of `ageMs` ago, or none. `old`: the server before the last comes
     * back, as it was. `rolled-back`: the same server, which has the data of a copy, as a primary that was demoted and
     * promoted again without a restart.
     */
    data,
    ageMs: Math.min(at, isA ? logarithmic(x, 1, 1_000) : logarithmic(x, 1_000, 90_000)),
    downMs: logarithmic(y, 1, (isRare ? 2 : 0.8) * ttlMs),
    /** Connections are closed at once, and refused meanwhile. Otherwise nothing is heard. */
    refuses: isB,
    clockMs: clock === 0 ? 0 : sign * logarithmic(clock, 1, clock > 0.8 ? 180_000 : 3_000),
  };
}

/** What becomes of a request. `hung`: its promise never settles, and neither the client nor the connection tells. */
export const FATES = ['lost', 'answer-lost', 'rejected-before', 'rejected-after', 'late', 'doubled', 'hung'] as const;
export type Fate = (typeof FATES)[number];
export type RequestKind = 'sync' | 'compareAndSet';
const undecided: { readonly fate?: Fate } = {};

function lock({ place, x, y, ttlMs }: Spot): { place: number; waitMs: number; holdMs: number; isLast?: true } {
  return { place, waitMs: Math.round(3 * ttlMs * x), holdMs: logarithmic(y, 1, 2 * ttlMs) };
}

const drawn = <P>(weight: number, of: (spot: Spot) => P) => ({ weight, of });
/** What may happen in a story: how often it is drawn, and with what. */
const FAULTS = {
  // the store
  restart: drawn(4, restart),
  flush: drawn(1, () => ({})),
  'lose-leases': drawn(0.4, () => ({})),
  'lose-record': drawn(0.4, ({ name }) => ({ name })),
  /** No replica can read the record meanwhile. */
  corrupt: drawn(0.4, (spot) => ({ name: spot.name, ...lasting(100, 3)(spot) })),
  /** The clock of the store is set. */
  jump: drawn(1.2, ({ x, isA, sign }) => ({ byMs: (isA ? -1 : sign) * logarithmic(x, 1_000, 180_000) })),
  stall: drawn(1, lasting(20, 1.2)),
  // the way to it
  /** Each of these requests, with the probability `share`, has another fate, which chance draws if it is left out. */
  noise: drawn(3, (spot) => ({
    ...lasting(100, 4)(spot),
    ...some(spot),
    only: spot.isB ? spot.only : undefined,
    ...undecided,
  })),
  hints: drawn(1.5, (spot) => ({ ...some(spot), ms: messagesMs(spot) })),
  /** No messages arrive, and the store says so. */
  deaf: drawn(0.5, (spot) => ({ ...ofPlace(spot), ms: messagesMs(spot) })),
  /** `isLoud`: the connection is reset. */
  cut: drawn(3, (spot) => ({ ...around(spot), isThreadCut: !spot.isA, isLoud: spot.isB })),
  // one process
  /** Its main thread stands still. */
  block: drawn(1.5, around),
  /** It is stopped, as by SIGSTOP. */
  freeze: drawn(1.2, around),
  /** With its host, whose monotonic clock stands still meanwhile. */
  suspend: drawn(0.7, around),
  /** Its wall clock is set. */
  wall: drawn(0.7, ({ place, x, sign }) => ({ place, byMs: sign * logarithmic(x, 100, 60_000) })),
  kill: drawn(2, back),
  crash: drawn(0.7, back),
  stop: drawn(2, back),
  start: drawn(0.7, ({ place }) => ({ place, backMs: 0 })),
  remove: drawn(0.7, (spot) => ({ ...ofJob(spot), backMs: logarithmic(spot.x, 50, 40_000) })),
  // callers
  pause: drawn(0.8, (spot) => ({ ...ofJob(spot), ...pause(spot) })),
  resume: drawn(0.8, ofJob),
  pauseAll: drawn(0.5, (spot) => ({ ...ofPlace(spot), ...pause(spot) })),
  resumeAll: drawn(0.4, ofPlace),
  stepDown: drawn(1, ofJob),
  trigger: drawn(1.2, ofJob),
  /** Of a process that competes for no job, and ends when it has its answer. */
  script: drawn(1, (spot) => ({ name: spot.name, command: spot.command, ...pause(spot) })),
  lock: drawn(1.5, lock),
  /** A leader steps down by itself. */
  'give-back': drawn(0.6, ofJob),
};
export type FaultKind = keyof typeof FAULTS;
export type CommandKind = Spot['command'];
export type FaultOf<Kind extends FaultKind> = { readonly at: number; readonly kind: Kind } & Readonly<
  ReturnType<(typeof FAULTS)[Kind]['of']>
>;
export type Fault = { [Kind in FaultKind]: FaultOf<Kind> }[FaultKind];

/** When the cause of a fault is over. Its effects may last longer. */
export function endOf(fault: Fault): number {
  const { downMs = 0, ms = 0, backMs = 0 } = fault as Partial<Record<'downMs' | 'ms' | 'backMs', number>>;
  return fault.at + downMs + ms + backMs;
}

const PLACES = [0, 1, 2, 3, 4, 5];
const HAND_OVERS: readonly FaultKind[] = ['stop', 'stepDown', 'give-back', 'crash', 'remove', 'trigger', 'lock'];
type Theme = readonly [weight: number, kinds: readonly FaultKind[], failover: number];
/**
 * Stories of one kind, in which faults meet that seldom meet by chance. `failover`: how often a restart follows a
 * hand-over.
 */
const THEMES: readonly Theme[] = [
  [11, Object.keys(FAULTS) as FaultKind[], 0.15],
  [3, [...HAND_OVERS, 'jump', 'wall'], 0.8],
  [3, ['pause', 'resume', 'pauseAll', 'trigger', 'stepDown', 'script', 'noise', 'hints', 'deaf', 'kill'], 0.15],
  [3, ['remove', 'lock', 'stop', 'noise', 'cut'], 0.15],
];

function drawEvent([, kinds, failover]: Theme) {
  return fc.record({
    kind: oneOf(...kinds.map((kind) => [FAULTS[kind].weight, fc.constant(kind)] as const)),
    /** In TTLs. */
    gap: oneOf([11, between(0, 0.4)], [7, between(0, 2)], [2, between(0, 6)]),
    numbers,
    isFollowed: chance(failover),
    failover: fc.record({ after: unit, age: unit, down: unit }),
  });
}

/** A fault, and what often follows it. */
function faultsOf({ kind, isFollowed, failover }: Drawn<ReturnType<typeof drawEvent>>, spot: Spot): readonly Fault[] {
  const { at, other, name, x, delayMs, isRare, isA, crowd } = spot;
  const soon = (after: number): number => at + after * (60 + 3 * delayMs);
  // before the call all replicas are stopped, and the store is restarted
  if (kind === 'script' && isRare)
    return [
      ...PLACES.map((place) => ({ at, kind: 'stop', place, backMs: 14_000 }) as const),
      { ...restart(spot), at: at + 9_000, kind: 'restart', downMs: 100 },
      { at: at + 12_000, kind, ...FAULTS[kind].of(spot) },
    ];
  const faults = [{ at, kind, ...FAULTS[kind].of(spot) } as Fault];
  const resumed = { at: at + 100 + 15_000 * x, name };
  if (kind === 'pause' && !isRare) faults.push({ ...resumed, kind: 'resume', place: other });
  if (kind === 'pauseAll' && !isRare) faults.push({ at: resumed.at, kind: 'resumeAll', place: other });
  const end = { pause: 'resume', pauseAll: 'resumeAll' }[spot.command as string] as 'resume' | 'resumeAll' | undefined;
  if (kind === 'script' && end !== undefined) faults.push({ ...resumed, kind, command: end, untilMs: undefined });
  if (kind === 'lock' && isA)
    for (const { place, after, x } of crowd)
      faults.push({ ...lock(spot), at: soon(after), kind, place, holdMs: logarithmic(x, 1, 40) });
  if (isFollowed && HAND_OVERS.includes(kind)) {
    const [ageMs, downMs] = [logarithmic(failover.age, 1, 200), logarithmic(failover.down, 1, 60)];
    faults.push({ ...restart(spot), at: soon(failover.after), kind: 'restart', ageMs, downMs });
  }
  return faults;
}

// ---- Where it happens

const PERIODS_MS = { rate: [500, 1_000, 2_000], cron: [1_000, 2_000, 5_000], interval: [300, 2_000, 5_000, 12_000] };
const LONG_MS = 10_000;
const SHORT_MS = 800;

/** A job or its copies in all replicas. */
const job = fc.record({
  kind: fc.constantFrom('rate' as const, 'interval', 'cron', 'cron'),
  isShort: fc.boolean(),
  period: fc.nat(11),
  /** Most runs take less, and some take `longRunMs`. */
  runMs: fc.constantFrom(...[5, 50, 400]),
  longRunMs: fc.constantFrom(...[100, 1_500, 6_000, 12_000]),
  /** Its runs go on after their term. */
  isStubborn: chance(0.15),
});

/** One replica. A process that dies and starts again has the same place. */
const place = fc.record({
  startMs: oneOf([4, fc.constant(0)], [1, between(0, 12_000)]),
  /** Of its monotonic clock. */
  rate: oneOf([1, fc.constant(1)], [1, between(0.99, 1.01)]),
  /** Of its wall clock. */
  skewMs: oneOf([1, fc.constant(0)], [1, between(-400, 400)]),
  hasOtherTtl: chance(0.2),
  otherKind: oneOf([3, fc.constant(undefined)], [1, fc.constantFrom('rate' as const, 'interval', 'cron')]),
  isWithoutJob: chance(0.08),
});

const storyOf = (theme: Theme) =>
  fc.record({
    setting: fc.record({
      /** Of everything that the world decides by chance. */
      seed: fc.noShrink(fc.nat()),
      /** The store does not tell which server it is. */
      isHidden: chance(0.06),
      canPublish: chance(0.06).map((is) => !is),
      /** The requests of a connection arrive in order, and so do the answers. */
      isOrdered: fc.boolean().map((is) => !is),
      hasThread: chance(0.35),
      /** The store reads records and leases at two moments. */
      isSplit: chance(0.15),
      /** A proxy keeps connections through a restart, and the requests that were under way. */
      hasProxy: chance(theme[2] > 0.5 ? 0.7 : 0.25),
      /** Of a request and of an answer: at least, at most. */
      delayMs: fc.constantFrom([0.1, 1] as const, [0.1, 5] as const, [1, 20] as const, [0.1, 40] as const),
      storeRate: oneOf([7, fc.constant(1)], [3, between(0.995, 1.005)]),
      /** So long an observer of events takes at most, as a share of what is usual. */
      observerMs: oneOf([3, fc.constant(0)], [1, unit]),
      /** So many other processes compete for no job, and hold a lease since they have used a lock. */
      webs: oneOf([7, fc.constant(0)], [1, fc.integer({ min: 10, max: 60 })]),
    }),
    places: listOf(place, 2, [3, 4, 6]),
    jobs: listOf(job, 1, [2, 3, 6]),
    ttls: fc.constantFrom('long' as const, 'short', 'short', 'both'),
    beginMs: oneOf([9, between(2_000, 6_000)], [1, between(20_000, 90_000)]),
    events: listOf(drawEvent(theme), 1, [2, 4, 8, 12]),
  });
type DrawnStory = Drawn<ReturnType<typeof storyOf>>;

function toStory({ setting, ttls, events, beginMs, ...drawn }: DrawnStory) {
  const jobs = drawn.jobs.map(({ kind, isShort, period, ...job }, index) => {
    /** `lockExpiry`. */
    const ttlMs = ttls === 'short' || (ttls === 'both' && isShort) ? SHORT_MS : LONG_MS;
    /** Period, or delay. */
    const periodMs = PERIODS_MS[kind][period % PERIODS_MS[kind].length] ?? 0;
    return { name: `j${index}`, kind, ttlMs, periodMs, ...job };
  });
  const otherTtl = { ttlMs: jobs[0]?.ttlMs === SHORT_MS ? LONG_MS : SHORT_MS };
  const places = drawn.places.map(({ startMs, rate, skewMs, hasOtherTtl, otherKind, isWithoutJob }, index) => ({
    rate,
    skewMs,
    startAt: startMs > 0 ? startMs : 3 * index,
    /** What a deploy changes of the first job. */
    other: {
      ...(ttls === 'both' && hasOtherTtl && otherTtl),
      ...(otherKind !== undefined && { kind: otherKind, periodMs: PERIODS_MS[otherKind][1] ?? 0 }),
    },
    /** A deploy adds this job. */
    lacks: isWithoutJob && jobs.length > 1 && index > 0 ? jobs.at(-1)?.name : undefined,
  }));
  const ttlMs = ttls === 'short' ? SHORT_MS : LONG_MS;
  const all = { shortestMs: ttls === 'long' ? LONG_MS : SHORT_MS, delayMs: setting.delayMs[1] };
  let now = beginMs;
  const faults = events.flatMap((event): readonly Fault[] => {
    const { numbers, gap } = event;
    const { name, ttlMs } = jobs[numbers.job % jobs.length] as JobPlan;
    now += gap * (jobs[0]?.ttlMs ?? ttlMs);
    const [place, other] = [numbers.place % places.length, numbers.other % places.length];
    return faultsOf(event, { ...numbers, ...all, place, other, name, ttlMs, at: Math.round(10 * now) / 10 });
  });

  // late requests, lost messages and quiet times come to an end; at last one replica takes the lock and stops
  const isLate = faults.some(({ kind }) => kind === 'noise' || kind === 'cut');
  const calmAt = Math.max(...faults.map(endOf)) + (isLate ? 30_000 : 0) + 12_000 + 2.5 * ttlMs;
  const last = { at: calmAt, kind: 'lock', place: -1, isLast: true, waitMs: 3 * ttlMs + 3_000, holdMs: 10 } as const;
  const stop = { at: calmAt + 3 * ttlMs + 4_000, kind: 'stop', place: -1 } as const;
  const planned: readonly Fault[] = [...faults, last, stop];
  const [hasProxy, timeoutMs] = [setting.hasProxy && !setting.isHidden, all.shortestMs === SHORT_MS ? 200 : 1_500];
  // with short leases they would send too many heartbeats
  const webs = ttls === 'short' ? 0 : setting.webs;
  const observerMs = setting.observerMs * (all.shortestMs === SHORT_MS ? 50 : 200);
  const planOfAll = { ...setting, webs, observerMs, places, jobs, ttlMs, timeoutMs, hasProxy };
  return { setting: planOfAll, faults: planned, endMs: stop.at + 10_000 };
}

/** A story by chance. */
export const anyStory = oneOf(...THEMES.map((theme) => [theme[0], storyOf(theme)] as const)).map(toStory);
export type Story = Drawn<typeof anyStory>;
type Setting = Story['setting'];
export type JobPlan = Setting['jobs'][number];
export type PlacePlan = Setting['places'][number];
