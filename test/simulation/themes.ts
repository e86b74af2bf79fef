import { type Bounds, type Span } from '../support/checker/bounds.js';
import { Chance } from './chance.js';
import { drawPlan } from './draw-plan.js';
import { type Fault, JOBS, type Plan, type Setting } from './plan.js';
import { FINE_WEATHER, type Weather } from './weather.js';

/** What stories are about: one thing each, so that rules hold which those with all faults at once leave no room for. */
export const THEMES = [
  /** All faults at once. */
  'faults',
  /** Redis loses its data while one replica is cut off. No replica is a new one that knew nothing. */
  'data-loss',
  /** The lock of a job is deleted, and within the lease of its leader Redis starts again without its data. */
  'lost-twice',
  /** One replica stops, the clock of Redis is set back or ahead, and another stops. */
  'store-clock',
  /** Redis fails over and misses the last writes, and then a replica stops or is killed. */
  'failovers',
  /** One stop, kill or short silence at a time, each shorter than any lease. */
  'mild',
  /** Two places and stops alone, in a network that is slow. */
  'sluggish',
  /** Stops, right after a time in which copies of commands were sent that arrive only now. */
  'stragglers',
  /** Stops, in a network where copies of commands arrive late. */
  'late-commands',
  /** A network that is slow, and then cut. */
  'late-answers',
] as const;

export type Theme = (typeof THEMES)[number];

export interface ThemedStory {
  readonly plan: Plan;
  /** What holds besides the rules for all histories. */
  readonly bounds?: Bounds;
}

const PLACES = 3;
/** Clocks differ in their rates, and a follower waits a moment longer than it must. */
const DRIFT = 1.01;
const MOMENT_MS = 50;

/** The story of a seed about a theme: set and clocked as the one with all faults. */
export function drawThemed(theme: Theme, seed: number): ThemedStory {
  const plan = drawPlan(seed);
  const { lockExpiryMs } = plan.setting;
  const chance = Chance.of(seed, theme);
  const calm: Plan = { ...plan, setting: { ...plan.setting, stubborn: 0 }, faults: [] };
  const afterKillMs = DRIFT * lockExpiryMs + MOMENT_MS;
  switch (theme) {
    case 'faults':
      return { plan };
    case 'data-loss':
      return { plan: { ...calm, faults: dataLosses(chance, plan.setting) } };
    case 'lost-twice':
      return { plan: { ...calm, faults: lostTwice(chance, plan.setting) } };
    case 'store-clock':
      return { plan: { ...calm, faults: storeClock(chance, plan.setting) } };
    case 'failovers':
      return { plan: { ...calm, faults: failovers(chance, plan.setting) } };
    case 'mild':
      return {
        plan: { ...calm, faults: mild(chance, plan.setting) },
        bounds: { afterReleaseMs: MOMENT_MS, afterKillMs, keepsLeases: true },
      };
    case 'sluggish':
      return sluggish(chance, calm);
    case 'stragglers':
      return stragglers(chance, calm);
    case 'late-commands':
      return { plan: { ...calm, faults: lateCommands(chance, plan.setting) } };
    case 'late-answers':
      return { plan: { ...calm, faults: lateAnswers(chance, plan.setting) } };
  }
}

/** The places in turn, so far apart that one is always there to lead. */
function inTurn(
  { faultsForMs, lockExpiryMs }: Setting,
  draw: (place: number, atMs: number) => Fault[],
  everyLocks = 3,
): Fault[] {
  const everyMs = everyLocks * lockExpiryMs;
  const count = Math.floor(faultsForMs / everyMs);
  return Array.from({ length: count }, (_, index) => draw(index % PLACES, index * everyMs + lockExpiryMs)).flat();
}

function mild(chance: Chance, setting: Setting): Fault[] {
  const { lockExpiryMs } = setting;
  return inTurn(setting, (place, turnMs) => {
    const atMs = turnMs + chance.between(0, 0.3) * lockExpiryMs;
    const restart = { downForMs: chance.between(0.01, 0.5) * lockExpiryMs, clock: { aheadMs: 0, rate: 1 } };
    const weather: Weather = { ...FINE_WEATHER, lostCommands: 1, lostAnswers: 1 };
    return [
      chance.pick<Fault>([
        { kind: 'kill', atMs, place, ...restart },
        { kind: 'stop', atMs, place, ...restart },
        { kind: 'weather', atMs, place, weather, forMs: 0.25 * lockExpiryMs },
      ]),
    ];
  });
}

function sluggish(chance: Chance, plan: Plan): ThemedStory {
  const { lockExpiryMs } = plan.setting;
  const weather: Weather = { ...FINE_WEATHER, slow: 0.5, slowMs: 0.1 * lockExpiryMs };
  const stops = inTurn(plan.setting, (place, atMs) => [stop(chance, plan.setting, { place: place % 2, atMs })], 5.5);
  return {
    plan: { ...plan, clocks: plan.clocks.slice(0, 2), faults: [throughout(weather, plan.setting), ...stops] },
    bounds: { afterReleaseMs: 0.55 * lockExpiryMs },
  };
}

function stragglers(chance: Chance, plan: Plan): ThemedStory {
  const { lockExpiryMs } = plan.setting;
  const weather: Weather = { ...FINE_WEATHER, duplicated: 1, slow: 0.5, slowMs: 1.5 * lockExpiryMs };
  const windows: Span[] = [];
  const faults = inTurn(plan.setting, (place, atMs) => {
    const fineFromMs = atMs + 0.8 * lockExpiryMs;
    windows.push({ fromMs: fineFromMs, untilMs: fineFromMs + lockExpiryMs });
    return [
      { kind: 'weather-for-all', atMs, weather, forMs: 0.8 * lockExpiryMs },
      stop(chance, plan.setting, { place, atMs: fineFromMs }),
    ];
  });
  return { plan: { ...plan, faults }, bounds: { afterReleaseMs: 0.5 * lockExpiryMs, within: windows } };
}

function lateCommands(chance: Chance, setting: Setting): Fault[] {
  const { lockExpiryMs } = setting;
  const weather: Weather = { ...FINE_WEATHER, duplicated: 0.7, slow: 0.25, slowMs: 2.5 * lockExpiryMs };
  const stops = inTurn(setting, (place, atMs) => [stop(chance, setting, { place, atMs })]);
  return [throughout(weather, setting), ...stops];
}

function throughout(weather: Weather, { faultsForMs, lockExpiryMs }: Setting): Fault {
  return { kind: 'weather-for-all', atMs: 0, weather, forMs: faultsForMs + 2 * lockExpiryMs };
}

function stop(chance: Chance, { lockExpiryMs }: Setting, when: { place: number; atMs: number }): Fault {
  const atMs = when.atMs + chance.between(0, 0.3) * lockExpiryMs;
  const downForMs = chance.between(0.01, 0.5) * lockExpiryMs;
  return { kind: 'stop', place: when.place, atMs, downForMs, clock: { aheadMs: 0, rate: 1 } };
}

function lateAnswers(chance: Chance, setting: Setting): Fault[] {
  const { lockExpiryMs } = setting;
  const slow: Weather = { ...FINE_WEATHER, slow: 1, slowMs: 0.5 * lockExpiryMs };
  const cut: Weather = { ...FINE_WEATHER, isCut: true };
  return inTurn(setting, (_, turnMs) => {
    const place = Math.floor(chance.between(0, PLACES));
    const slowMs = chance.between(0.2, 0.8) * lockExpiryMs;
    return [
      { kind: 'weather', atMs: turnMs, place, weather: slow, forMs: slowMs },
      { kind: 'weather', atMs: turnMs + slowMs, place, weather: cut, forMs: 1.5 * lockExpiryMs },
    ];
  });
}

function failovers(chance: Chance, setting: Setting): Fault[] {
  const { lockExpiryMs, heartbeatIntervalMs } = setting;
  return inTurn(setting, (_, atMs) => {
    const place = Math.floor(chance.between(0, PLACES));
    const forMs = chance.between(0.1, 0.6) * lockExpiryMs;
    const restart = { downForMs: chance.between(0.01, 0.5) * lockExpiryMs, clock: { aheadMs: 0, rate: 1 } };
    return [
      { kind: 'fall-back', atMs, forMs, downForMs: 0 },
      // time for a leader to go on, and not always for its next occurrence
      { kind: chance.pick(['stop', 'kill']), atMs: atMs + forMs + 1.2 * heartbeatIntervalMs, place, ...restart },
    ];
  });
}

function lostTwice(chance: Chance, setting: Setting): Fault[] {
  const { lockExpiryMs } = setting;
  const cut: Weather = { ...FINE_WEATHER, isCut: true };
  return inTurn(setting, (_, atMs) => {
    const place = Math.floor(chance.between(0, PLACES));
    const lostMs = atMs + chance.between(0.25, 0.6) * lockExpiryMs;
    return [
      { kind: 'lock-deleted', atMs, job: chance.pick(JOBS) },
      { kind: 'weather', atMs: lostMs, place, weather: cut, forMs: 1.5 * lockExpiryMs },
      { kind: 'data-loss', atMs: lostMs, forMs: 0.05 * lockExpiryMs },
    ];
  });
}

function storeClock(chance: Chance, setting: Setting): Fault[] {
  const { lockExpiryMs } = setting;
  return inTurn(setting, (place, atMs) => [
    stop(chance, setting, { place, atMs }),
    {
      kind: 'store-clock-step',
      atMs: atMs + 0.35 * lockExpiryMs,
      byMs: chance.pick([-1, -0.2, 0.08, 0.2, 1, 20]) * lockExpiryMs,
    },
    stop(chance, setting, { place: (place + 1) % PLACES, atMs: atMs + 0.4 * lockExpiryMs }),
  ]);
}

function dataLosses(chance: Chance, setting: Setting): Fault[] {
  const { lockExpiryMs } = setting;
  const cut: Weather = { ...FINE_WEATHER, isCut: true };
  return inTurn(setting, (_, turnMs) => {
    const place = Math.floor(chance.between(0, PLACES));
    const aheadMs = chance.between(0, 0.3) * lockExpiryMs;
    return [
      { kind: 'weather', atMs: turnMs, place, weather: cut, forMs: 1.5 * lockExpiryMs },
      { kind: 'data-loss', atMs: turnMs + aheadMs, forMs: 0 },
    ];
  });
}
