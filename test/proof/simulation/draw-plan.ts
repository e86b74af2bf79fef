import { Chance } from './chance.js';
import {
  type Fault,
  JOBS,
  longestExpiryMs,
  type Plan,
  type Request,
  type Restart,
  type Setting,
  type Step,
  type Version,
} from './plan.js';
import { type ClockFaults } from './process-clock.js';
import { GOOD_CONDITIONS, type NetworkConditions } from './network-conditions.js';

const DAY_MS = 86_400_000;

/** The faults of a story: only deaths of processes, all faults except losses of data, or all faults. */
type Temper = 'kills' | 'mild' | 'harsh';

interface Draw {
  readonly chance: Chance;
  readonly setting: Setting;
  readonly places: number;
}

/** The story of a seed. */
export function drawPlan(seed: number): Plan {
  const chance = Chance.of(seed, 'plan');
  const temper = chance.pick<Temper>([
    'kills',
    'mild',
    'mild',
    'mild',
    'mild',
    'harsh',
    'harsh',
    'harsh',
    'harsh',
    'harsh',
  ]);
  const places = chance.pick([2, 3, 3, 4]);
  const threads = drawThreads(Chance.of(seed, 'threads'), places);
  const drawn = { ...drawSetting(chance, temper), threads };
  const clocks = Array.from({ length: places }, () => drawClock(chance));
  if (temper === 'kills') {
    const faults = drawFaults({ chance, setting: drawn, places }, drawDeath);
    return { seed, setting: drawn, clocks, faults };
  }
  const [setting, restarts] = drawRollOut({ chance: Chance.of(seed, 'roll-out'), setting: drawn, places });
  const faults = drawFaults({ chance, setting, places }, temper === 'mild' ? drawMild : drawHarsh);
  const stepDowns = drawStepDowns({ chance: Chance.of(seed, 'step-down'), setting, places });
  const clockSteps = drawStoreClockSteps({ chance: Chance.of(seed, 'store-clock'), setting, places });
  const blocks = drawBlocks({ chance: Chance.of(seed, 'blocks'), setting, places });
  const all = [...faults, ...restarts, ...stepDowns, ...clockSteps, ...blocks];
  return { seed, setting, clocks, faults: all.filter(isPlayed(all)).sort((a, b) => a.atMs - b.atMs) };
}

/** A leader cannot find out that its lock was deleted while the store refuses renewals. */
function isPlayed(all: readonly Fault[]): (fault: Fault) => boolean {
  const isDeleted = all.some(({ kind }) => kind === 'lock-deleted');
  return (fault) => !(isDeleted && fault.kind === 'store-refuses' && fault.request === 'renew');
}

/** Short leases, so that many faults fit into a short time. The default. And mixed leases. */
function drawExpiries(chance: Chance): Version['lockExpiryMs'] {
  const tiers = chance.pick<readonly [number, ...number[]]>([
    [800],
    [800],
    [3_000],
    [800, 3_000],
    [800, 3_000],
    [800, 10_000],
    [3_000, 10_000],
    [10_000],
  ]);
  return { grid: chance.pick(tiers), pause: chance.pick(tiers), cron: chance.pick(tiers) };
}

function drawSetting(chance: Chance, temper: Temper): Omit<Setting, 'threads'> {
  const version = { lockExpiryMs: drawExpiries(chance), cronSeconds: chance.pick([1, 1, 2, 5]) };
  const expiries = Object.values(version.lockExpiryMs);
  const longestMs = Math.max(...expiries);
  const shutdownTimeoutMs = chance.pick([3_000, 3_000, 8_000]);
  const heartbeatIntervalMs = Math.min(3_000, longestMs / chance.pick([3, 4, 5]));
  const defaultGraceMs = shutdownTimeoutMs + 2 * version.lockExpiryMs.cron + heartbeatIntervalMs;
  return {
    heartbeatIntervalMs,
    shutdownTimeoutMs,
    misfireGraceMs: chance.pick([defaultGraceMs, defaultGraceMs, 0, 1_500, version.lockExpiryMs.cron]),
    periodMs: version.lockExpiryMs.grid * chance.pick([0.2, 0.4, 1]),
    delayMs: version.lockExpiryMs.pause * chance.pick([0.3, 0.8, 2]),
    version,
    next: version,
    rollOutMs: Infinity,
    rollBackMs: Infinity,
    overlap: chance.pick(['skip', 'cancel-other']),
    ignoringSignal: temper === 'kills' ? 0 : chance.pick([0, 0, 0, 0.3]),
    serverRate: chance.between(0.998, 1.002),
    isProxied: temper !== 'kills' && chance.happens(0.2),
    faultsForMs: 6_000 + 5 * longestMs,
  };
}

/** Wall clocks that are off by a little, by much or by a day. Monotonic clocks at real rates and beyond. */
function drawClock(chance: Chance): ClockFaults {
  return {
    aheadMs: chance.pick([0, 0, 0, -700, 900, -20_000, 15_000, DAY_MS, -DAY_MS]),
    rate: chance.between(0.998, 1.002),
  };
}

/** One of the leases of the setting: a fault may last as long as this lease, or hit during the lease of another job. */
function drawExpiryMs({ chance, setting }: Draw): number {
  return setting.version.lockExpiryMs[chance.pick(JOBS)];
}

/** In some stories a version with another cron schedule or other leases is rolled out, and sometimes rolled back. */
function drawRollOut({ chance, setting, places }: Draw): [Setting, Fault[]] {
  if (!chance.happens(0.15)) return [setting, []];
  const { faultsForMs, version } = setting;
  const longestMs = longestExpiryMs(setting);
  const rollOutMs = chance.between(0.1, 0.7) * faultsForMs;
  const rollBackMs = chance.happens(0.5) ? rollOutMs + chance.between(0.5, 3) * longestMs : Infinity;
  const next = {
    cronSeconds: chance.happens(0.7) ? (version.cronSeconds === 2 ? 1 : 2) : version.cronSeconds,
    lockExpiryMs: chance.happens(0.5) ? drawExpiries(chance) : version.lockExpiryMs,
  };
  const rolled = { ...setting, next, rollOutMs, rollBackMs };
  const restarts = [rollOutMs, rollBackMs]
    .filter((atMs) => atMs < faultsForMs)
    .flatMap((atMs) => rollingRestart({ chance, setting: rolled, places }, atMs));
  return [rolled, restarts];
}

/** In some stories leaders step down, sometimes several times in a row. */
function drawStepDowns({ chance, setting: { faultsForMs, heartbeatIntervalMs }, places }: Draw): Fault[] {
  if (!chance.happens(0.2)) return [];
  const faults: Fault[] = [];
  let atMs = chance.between(0.05, 0.5) * faultsForMs;
  while (atMs < faultsForMs) {
    faults.push({ kind: 'step-down', atMs, place: drawPlace(chance, places) });
    atMs += chance.pick([0.5, 3, 20]) * chance.between(0.5, 1) * heartbeatIntervalMs;
  }
  return faults;
}

/** In some stories all replicas have a heartbeat thread, in some a part of them. */
function drawThreads(chance: Chance, places: number): boolean[] {
  const share = chance.pick([0, 0, 0.5, 1]);
  return Array.from({ length: places }, () => chance.happens(share));
}

/** With heartbeat threads, some replicas are blocked repeatedly: for less than a lease, or for several leases. */
function drawBlocks(draw: Draw): Fault[] {
  const { chance, setting, places } = draw;
  if (!setting.threads.includes(true) || chance.happens(0.3)) return [];
  const faults: Fault[] = [];
  let atMs = chance.between(0.1, 1) * drawExpiryMs(draw);
  while (atMs < setting.faultsForMs) {
    const forMs = Math.min(chance.pick([1, 1, 3]) * drawDurationMs(draw), setting.faultsForMs - atMs);
    faults.push({ kind: 'block', atMs, place: drawPlace(chance, places), forMs });
    atMs += chance.between(0.2, 2) * drawExpiryMs(draw);
  }
  return faults;
}

/** In some stories the clock of the store is set. */
function drawStoreClockSteps(draw: Draw): Fault[] {
  const { chance, setting } = draw;
  if (!chance.happens(0.1)) return [];
  return Array.from({ length: chance.pick([1, 2]) }, () => ({
    kind: 'store-clock-step',
    atMs: chance.between(0.05, 1) * setting.faultsForMs,
    byMs: chance.pick([-1, -0.2, 0.05, 0.2, 1, 3, 20]) * chance.between(0.3, 1) * drawExpiryMs(draw),
  }));
}

function drawFaults(draw: Draw, drawFault: (draw: Draw, atMs: number) => readonly Fault[]): Fault[] {
  const { chance, setting } = draw;
  const faults: Fault[] = [];
  let atMs = chance.between(0.1, 0.6) * drawExpiryMs(draw);
  while (atMs < setting.faultsForMs) {
    faults.push(...drawFault(draw, atMs));
    atMs += chance.between(0.05, 1.4) * drawExpiryMs(draw);
  }
  return faults.sort((a, b) => a.atMs - b.atMs);
}

function drawDeath(draw: Draw, atMs: number): readonly Fault[] {
  const { chance, places } = draw;
  const place = drawPlace(chance, places);
  const restart = drawRestart(draw);
  if (chance.happens(0.6)) return [{ kind: 'kill', atMs, place, ...restart }];
  return [{ kind: 'crash', atMs, place, step: drawStep(chance), ...restart }];
}

function drawMild(draw: Draw, atMs: number): readonly Fault[] {
  const { chance, places } = draw;
  const place = drawPlace(chance, places);
  const forMs = drawDurationMs(draw);
  const kinds: readonly [() => readonly Fault[], ...(() => readonly Fault[])[]] = [
    () => drawDeath(draw, atMs),
    () => drawDeath(draw, atMs),
    () => [{ kind: 'stop', atMs, place, ...drawRestart(draw) }],
    () => [{ kind: chance.pick(['pause', 'suspend', 'suspend', 'freeze']), atMs, place, forMs }],
    () => [{ kind: 'clock-step', atMs, place, byMs: drawStepMs(chance, drawExpiryMs(draw)) }],
    () => [{ kind: 'cut', atMs, place, which: chance.pick(['requests', 'subscription', 'both']) }],
    () => [{ kind: 'network', atMs, place, conditions: drawConditions(draw), forMs }],
    () => [{ kind: 'network-for-all', atMs, conditions: drawConditions(draw), forMs }],
    () => [{ kind: 'store-hangs', atMs, forMs: chance.happens(0.3) ? chance.between(1_000, 2_000) : forMs }],
    () => [{ kind: 'restart', atMs, ...drawServerRestart(draw) }],
    () => [{ kind: 'restart', atMs, ...drawServerRestart(draw) }],
    () => [{ kind: 'store-refuses', atMs, request: chance.pick(['acquire', 'heartbeat', 'claim', 'renew']), forMs }],
    () => rollingRestart(draw, atMs),
  ];
  return chance.pick(kinds)();
}

function drawHarsh(draw: Draw, atMs: number): readonly Fault[] {
  const { chance } = draw;
  if (chance.happens(0.7)) return drawMild(draw, atMs);
  const forMs = chance.pick([1, 1, 1, 3]) * drawDurationMs(draw);
  const kinds: readonly [() => Fault, ...(() => Fault)[]] = [
    () => ({ kind: 'restart-empty', atMs, ...drawServerRestart(draw) }),
    () => ({ kind: 'restart-older', atMs, forMs, ...drawServerRestart(draw) }),
    () => ({ kind: 'restart-older', atMs, forMs, ...drawServerRestart(draw) }),
    () => ({ kind: 'flush-all', atMs }),
    () => ({ kind: 'sessions-deleted', atMs }),
    () => ({ kind: 'lock-deleted', atMs, job: chance.pick(JOBS) }),
    () => ({ kind: 'state-deleted', atMs, job: chance.pick(JOBS) }),
  ];
  return [chance.pick(kinds)()];
}

function drawPlace(chance: Chance, places: number): number {
  return Math.floor(chance.between(0, places));
}

/** From a moment to longer than a lease. */
function drawDurationMs(draw: Draw): number {
  const { chance } = draw;
  return chance.pick([0.05, 0.3, 1, 2.5]) * chance.between(0.5, 1) * drawExpiryMs(draw);
}

function drawRestart(draw: Draw): Restart {
  const { chance } = draw;
  return { downForMs: chance.between(0.01, 1.5) * drawExpiryMs(draw), clock: drawClock(chance) };
}

function drawServerRestart(draw: Draw): { readonly downForMs: number; readonly isNoticed: boolean } {
  const { chance } = draw;
  return { downForMs: chance.pick([10, 10, 300, drawDurationMs(draw)]), isNoticed: chance.happens(0.7) };
}

/** Every process is stopped and replaced, one after another or nearly at once. */
function rollingRestart(draw: Draw, atMs: number): readonly Fault[] {
  const { chance, places } = draw;
  const everyMs = chance.happens(0.3) ? 1 : drawDurationMs(draw);
  return Array.from({ length: places }, (_, place) => ({
    kind: 'stop',
    atMs: atMs + place * everyMs,
    place,
    ...drawRestart(draw),
  }));
}

function drawStep(chance: Chance): Step {
  const request = chance.pick<Request>(['acquire', 'renew', 'claim', 'claim', 'heartbeat', 'release', 'publish']);
  return chance.pick<Step>([`${request} sent`, `${request} carried out`, 'run begun', 'run ended']);
}

/** A small correction, a jump that a lease must notice, or a wrong day. */
function drawStepMs(chance: Chance, lockExpiryMs: number): number {
  const sizeMs = chance.pick([20, 0.3 * lockExpiryMs, 3 * lockExpiryMs, 30_000, DAY_MS]);
  return chance.pick([-1, 1]) * chance.between(0.3, 1) * sizeMs;
}

function drawConditions(draw: Draw): NetworkConditions {
  const { chance } = draw;
  const lockExpiryMs = drawExpiryMs(draw);
  const parts: readonly [Partial<NetworkConditions>, ...Partial<NetworkConditions>[]] = [
    { way: 'refused' },
    { way: 'silent' },
    { way: 'mute' },
    { way: 'deaf' },
    { lostMessages: 1 },
    { lostMessages: 0.3, lateMessages: 0.5, lateMs: 1_500 },
    { lateMessages: 1, lateMs: chance.pick([20, 5_000]), slow: 0.1, slowMs: 0.3 * lockExpiryMs },
    { slow: 0.7, slowMs: 0.3 * lockExpiryMs },
    { slow: 1, slowMs: 2 * lockExpiryMs },
  ];
  return { ...GOOD_CONDITIONS, ...chance.pick(parts) };
}
