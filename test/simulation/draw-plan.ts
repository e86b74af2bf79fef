import { Chance } from './chance.js';
import { type Command, type Fault, JOBS, type Plan, type Restart, type Setting, type Step } from './plan.js';
import { type ClockFaults } from './process-clock.js';
import { FINE_WEATHER, type Weather } from './weather.js';

const PLACES = 3;
const DAY_MS = 86_400_000;

/** The story of a seed. In one of four the store also loses data: all, its last writes, or a key. */
export function drawPlan(seed: number): Plan {
  const chance = Chance.of(seed, 'plan');
  const drawn = drawSetting(chance);
  const clocks = Array.from({ length: PLACES }, () => drawClock(chance));
  const faults = drawFaults(chance, drawn, Chance.of(seed, 'data-loss').happens(0.25));
  const [setting, restarts] = drawRollOut(Chance.of(seed, 'roll-out'), drawn);
  const stepDowns = drawStepDowns(Chance.of(seed, 'step-down'), drawn);
  const clockSteps = drawStoreClockSteps(Chance.of(seed, 'store-clock'), drawn);
  const all = [...faults, ...restarts, ...stepDowns, ...clockSteps];
  return { seed, setting, clocks, faults: all.sort((a, b) => a.atMs - b.atMs) };
}

/** In some stories the fleet is moved to a version with another cron schedule, and sometimes back. */
function drawRollOut(chance: Chance, setting: Setting): [Setting, Fault[]] {
  if (!chance.happens(0.2)) return [setting, []];
  const { lockExpiryMs, faultsForMs, cronSeconds } = setting;
  const rollOutMs = chance.between(0.1, 0.7) * faultsForMs;
  const rollBackMs = chance.happens(0.5) ? rollOutMs + chance.between(0.5, 3) * lockExpiryMs : Infinity;
  const restart = (): Restart => ({ downForMs: chance.between(0.01, 0.5) * lockExpiryMs, clock: drawClock(chance) });
  const restarts = [rollOutMs, rollBackMs]
    .filter((atMs) => atMs < faultsForMs)
    .flatMap((atMs) => rollingRestart(chance, atMs, { spellMs: chance.between(0.05, 1) * lockExpiryMs, restart }));
  return [{ ...setting, nextCronSeconds: cronSeconds === 2 ? 1 : 2 * cronSeconds, rollOutMs, rollBackMs }, restarts];
}

/** Short leases and quick jobs, so that many faults fall into little time; now and then the defaults. */
function drawSetting(chance: Chance): Setting {
  const isDefault = chance.happens(0.05);
  const lockExpiryMs = isDefault ? 10_000 : chance.pick([750, 1_000, 1_500]);
  const heartbeatIntervalMs = isDefault ? 3_000 : lockExpiryMs * chance.pick([0.2, 0.3, 1 / 3]);
  const shutdownTimeoutMs = isDefault ? 8_000 : 3_000;
  const defaultGraceMs = shutdownTimeoutMs + 2 * lockExpiryMs + heartbeatIntervalMs;
  const delayMs = lockExpiryMs * chance.pick([0.3, 0.8, 2]);
  const cronSeconds = isDefault ? 5 : chance.pick([1, 1, 2]);
  return {
    heartbeatIntervalMs,
    lockExpiryMs,
    shutdownTimeoutMs,
    misfireGraceMs: chance.pick([defaultGraceMs, defaultGraceMs, 0, 1_500, lockExpiryMs]),
    periodMs: lockExpiryMs * chance.pick([0.2, 0.4, 1]),
    delayMs,
    cronSeconds,
    nextCronSeconds: cronSeconds,
    rollOutMs: Infinity,
    rollBackMs: Infinity,
    overlap: chance.pick(['skip', 'cancel-other']),
    stubborn: chance.pick([0, 0, 0, 0.3]),
    serverRate: chance.between(0.998, 1.002),
    faultsForMs: 12 * lockExpiryMs,
    calmForMs: lockExpiryMs,
  };
}

/** Wall clocks a little off, far off, a day off; monotonic ones at rates that real ones have, and more. */
function drawClock(chance: Chance): ClockFaults {
  return {
    aheadMs: chance.pick([0, 0, 0, -700, 900, -20_000, 15_000, DAY_MS, -DAY_MS]),
    rate: chance.between(0.998, 1.002),
  };
}

/** In some stories leaders are asked to step down, right after one another at times. */
function drawStepDowns(chance: Chance, { faultsForMs, heartbeatIntervalMs }: Setting): Fault[] {
  if (!chance.happens(0.2)) return [];
  const faults: Fault[] = [];
  let atMs = chance.between(0.05, 0.5) * faultsForMs;
  while (atMs < faultsForMs) {
    faults.push({ kind: 'step-down', atMs, place: Math.floor(chance.between(0, PLACES)) });
    atMs += chance.pick([0.5, 3, 20]) * chance.between(0.5, 1) * heartbeatIntervalMs;
  }
  return faults;
}

/** In some stories the clock of the store is set: back by less than a lock lives, or ahead. */
function drawStoreClockSteps(chance: Chance, { faultsForMs, lockExpiryMs }: Setting): Fault[] {
  if (!chance.happens(0.15)) return [];
  return Array.from({ length: chance.pick([1, 2]) }, () => ({
    kind: 'store-clock-step',
    atMs: chance.between(0.05, 1) * faultsForMs,
    byMs: chance.pick([-1, -0.2, 0.05, 0.2, 1, 3, 20]) * chance.between(0.3, 1) * lockExpiryMs,
  }));
}

function drawFaults(chance: Chance, setting: Setting, losesData: boolean): Fault[] {
  const faults: Fault[] = [];
  const { lockExpiryMs, faultsForMs } = setting;
  let atMs = chance.between(0.1, 0.6) * lockExpiryMs;
  while (atMs < faultsForMs) {
    faults.push(...drawFault(chance, { atMs, setting, losesData }));
    atMs += chance.between(0.05, 1.4) * lockExpiryMs;
  }
  return faults.sort((a, b) => a.atMs - b.atMs);
}

interface Draw {
  readonly atMs: number;
  readonly setting: Setting;
  readonly losesData: boolean;
}

function drawFault(chance: Chance, { atMs, setting, losesData }: Draw): Fault[] {
  const { lockExpiryMs } = setting;
  const place = Math.floor(chance.between(0, PLACES));
  // from a moment to longer than a lock lives
  const spellMs = chance.pick([0.05, 0.3, 1, 2.5]) * chance.between(0.5, 1) * lockExpiryMs;
  const restart = (): Restart => ({
    downForMs: chance.between(0.01, 1.5) * lockExpiryMs,
    clock: drawClock(chance),
  });
  const kinds: readonly [() => Fault[], ...(() => Fault[])[]] = [
    () => [{ kind: 'kill', atMs, place, ...restart() }],
    () => [{ kind: 'crash', atMs, place, step: drawStep(chance), ...restart() }],
    () => [{ kind: 'stop', atMs, place, ...restart() }],
    () => [{ kind: chance.pick(['pause', 'suspend']), atMs, place, forMs: spellMs }],
    () => [{ kind: 'clock-step', atMs, place, byMs: drawStepMs(chance, lockExpiryMs) }],
    () => [{ kind: 'weather', atMs, place, weather: drawWeather(chance, lockExpiryMs), forMs: spellMs }],
    () => [{ kind: 'weather-for-all', atMs, weather: drawWeather(chance, lockExpiryMs), forMs: spellMs }],
    () =>
      chance.happens(0.5)
        ? [{ kind: 'store-hangs', atMs, forMs: spellMs }]
        : rollingRestart(chance, atMs, { spellMs, restart }),
    ...(losesData
      ? [
          (): Fault[] => [{ kind: 'data-loss', atMs, forMs: drawDowntime(chance, spellMs) }],
          (): Fault[] => [drawLoss(chance, atMs, spellMs)],
        ]
      : []),
  ];
  return chance.pick(kinds)();
}

/** A failover that loses the last writes, or a key that somebody deletes. */
function drawLoss(chance: Chance, atMs: number, spellMs: number): Fault {
  const kind = chance.pick<'fall-back' | 'lock-deleted' | 'state-deleted'>([
    'fall-back',
    'fall-back',
    'lock-deleted',
    'state-deleted',
  ]);
  if (kind !== 'fall-back') return { kind, atMs, job: chance.pick(JOBS) };
  return { kind, atMs, forMs: spellMs, downForMs: drawDowntime(chance, chance.between(0, 1) * spellMs) };
}

function drawDowntime(chance: Chance, spellMs: number): number {
  return chance.happens(0.5) ? 0 : spellMs;
}

/** Every process is stopped and replaced, one after another or nearly at once. */
function rollingRestart(
  chance: Chance,
  atMs: number,
  { spellMs, restart }: { readonly spellMs: number; readonly restart: () => Restart },
): Fault[] {
  const everyMs = chance.happens(0.3) ? 1 : spellMs;
  return Array.from({ length: PLACES }, (_, place) => ({
    kind: 'stop',
    atMs: atMs + place * everyMs,
    place,
    ...restart(),
  }));
}

function drawStep(chance: Chance): Step {
  const command = chance.pick<Command>(['acquire', 'renew', 'claim', 'claim', 'release']);
  return chance.pick<Step>([`${command} sent`, `${command} carried out`, 'run begun', 'run ended']);
}

/** A correction, a jump that a lease must notice, a wrong day. */
function drawStepMs(chance: Chance, lockExpiryMs: number): number {
  const sizeMs = chance.pick([20, 0.3 * lockExpiryMs, 3 * lockExpiryMs, 30_000, DAY_MS]);
  return chance.pick([-1, 1]) * chance.between(0.3, 1) * sizeMs;
}

function drawWeather(chance: Chance, lockExpiryMs: number): Weather {
  // beyond the deadline of an attempt, a fifth of the lock's life, an answer is late
  return {
    ...FINE_WEATHER,
    ...chance.pick<Partial<Weather>>([
      { isCut: true },
      { lostCommands: 1, lostAnswers: 1, lostMessages: 1 },
      { lostCommands: 1 },
      { lostAnswers: 1, lostMessages: 1 },
      { lostMessages: 1 },
      { lostCommands: 0.2, lostAnswers: 0.2, lostMessages: 0.3, slow: 0.4, slowMs: lockExpiryMs, duplicated: 0.3 },
      { slow: 0.7, slowMs: 0.3 * lockExpiryMs },
      { slow: 1, slowMs: 2 * lockExpiryMs },
    ]),
  };
}
