import { type Draw, drawClock, drawDurationMs, drawExpiryMs, drawPlace, drawRestart, rollingRestart } from './draw.js';
import { drawExpiries } from './draw-setting.js';
import { GOOD_CONDITIONS } from './network-conditions.js';
import { type Fault, JOBS, longestExpiryMs, type Setting, type Temper } from './plan.js';

/** A resume is carried out within this time, if nothing fails. */
const RESUMED_WITHIN_MS = 50;

/** In some scenarios a version with another cron schedule or other leases is rolled out, and sometimes rolled back. */
export function drawRollOut({ chance, setting, places }: Draw): [Setting, Fault[]] {
  if (!chance.happens(0.15)) return [setting, []];
  const { faultsForMs, version } = setting;
  const longestMs = longestExpiryMs(setting);
  const rollOutMs = chance.between(0.1, 0.7) * faultsForMs;
  const rollBackMs = chance.happens(0.5) ? rollOutMs + chance.between(0.5, 3) * longestMs : Infinity;
  const next = {
    kinds: version.kinds,
    cronSeconds: chance.happens(0.7) ? (version.cronSeconds === 2 ? 1 : 2) : version.cronSeconds,
    lockExpiryMs: chance.happens(0.5) ? drawExpiries(chance) : version.lockExpiryMs,
  };
  const rolled = { ...setting, next, rollOutMs, rollBackMs };
  const restarts = [rollOutMs, rollBackMs]
    .filter((atMs) => atMs < faultsForMs)
    .flatMap((atMs) => rollingRestart({ chance, setting: rolled, places }, atMs));
  return [rolled, restarts];
}

/** In some scenarios leaders step down, sometimes several times in a row. */
export function drawStepDowns({ chance, setting: { faultsForMs, heartbeatIntervalMs }, places }: Draw): Fault[] {
  if (!chance.happens(0.2)) return [];
  const faults: Fault[] = [];
  let atMs = chance.between(0.05, 0.5) * faultsForMs;
  while (atMs < faultsForMs) {
    faults.push({ kind: 'step-down', atMs, place: drawPlace(chance, places) });
    atMs += chance.pick([0.5, 3, 20]) * chance.between(0.5, 1) * heartbeatIntervalMs;
  }
  return faults;
}

/** With heartbeat threads, some replicas are blocked repeatedly: for less than a lease, or for several leases. */
export function drawBlocks(draw: Draw): Fault[] {
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

/** In some scenarios the clock of the store is set. */
export function drawStoreClockSteps(draw: Draw): Fault[] {
  const { chance, setting } = draw;
  if (!chance.happens(0.1)) return [];
  return Array.from({ length: chance.pick([1, 2]) }, () => ({
    kind: 'store-clock-step',
    atMs: chance.between(0.05, 1) * setting.faultsForMs,
    byMs: chance.pick([-1, -0.2, 0.05, 0.2, 1, 3, 20]) * chance.between(0.3, 1) * drawExpiryMs(draw),
  }));
}

/** In some scenarios a part of the processes dies for good in the end: the others must take over without a newcomer. */
export function drawAbsences(draw: Draw): Fault[] {
  const { chance, setting, places } = draw;
  if (!chance.happens(0.25)) return [];
  const survivor = drawPlace(chance, places);
  return Array.from({ length: places }, (_, place) => place)
    .filter((place) => place !== survivor)
    .map((place) => ({
      kind: 'kill',
      atMs: chance.between(0.7, 1) * setting.faultsForMs,
      place,
      downForMs: Infinity,
      clock: drawClock(chance),
    }));
}

/** In some scenarios the clock of the store is wrong by minutes, or is set right again. */
export function drawStoreClockJumps({ chance, setting }: Draw): Fault[] {
  if (!chance.happens(0.12)) return [];
  return Array.from({ length: chance.pick([1, 1, 2]) }, () => ({
    kind: 'store-clock-step',
    atMs: chance.between(0.05, 1) * setting.faultsForMs,
    byMs: chance.pick([-120_000, -120_000, -30_000, -5_000, 30_000, 120_000]) * chance.between(0.3, 1),
  }));
}

/** In some scenarios processes unregister jobs, some for good. */
export function drawUnregistrations(draw: Draw): Fault[] {
  const { chance, setting, places } = draw;
  if (!chance.happens(0.2)) return [];
  return Array.from({ length: chance.pick([1, 2, 4]) }, () => ({
    kind: 'unregister',
    atMs: chance.between(0.05, 1) * setting.faultsForMs,
    place: drawPlace(chance, places),
    job: chance.pick(JOBS),
    forMs: chance.pick([Infinity, Infinity, drawDurationMs(draw)]),
  }));
}

/** With heartbeat threads, some processes end by an exception, sometimes one after the other. */
export function drawExits(draw: Draw): Fault[] {
  const { chance, setting, places } = draw;
  if (!setting.threads.includes(true) || chance.happens(0.4)) return [];
  return Array.from({ length: chance.pick([1, 2, 4]) }, () => ({
    kind: 'exit',
    atMs: chance.between(0.05, 1) * setting.faultsForMs,
    place: drawPlace(chance, places),
    ...drawRestart(draw),
  }));
}

/** In some scenarios jobs are paused on all replicas for a while. */
export function drawPauses(draw: Draw): Fault[] {
  const { chance, setting, places } = draw;
  if (!chance.happens(0.2)) return [];
  return Array.from({ length: chance.pick([1, 2, 4]) }, () => ({
    kind: 'pause-job',
    atMs: chance.between(0.05, 1) * setting.faultsForMs,
    place: drawPlace(chance, places),
    job: chance.pick(JOBS),
    forMs: chance.pick([1, 1, 3]) * drawDurationMs(draw),
  }));
}

/** In some scenarios a pause ends in the end, and no replica gets the message. The one that ended it may die then. Heartbeats show it. */
export function drawLostResumes({ chance, setting, places }: Draw): Fault[] {
  if (!chance.happens(0.05)) return [];
  const lostFromMs = setting.faultsForMs - 2 * RESUMED_WITHIN_MS;
  const atMs = chance.between(0.3, 0.9) * lostFromMs;
  const forMs = lostFromMs + RESUMED_WITHIN_MS - atMs;
  const conditions = { ...GOOD_CONDITIONS, lostMessages: 1 };
  const place = drawPlace(chance, places);
  const job = chance.pick(JOBS);
  const death: Fault = {
    kind: 'kill',
    atMs: setting.faultsForMs,
    place,
    downForMs: Infinity,
    clock: drawClock(chance),
  };
  return [
    { kind: 'pause-job', atMs, place, job, forMs },
    { kind: 'network-for-all', atMs: lostFromMs, conditions, forMs: 2 * RESUMED_WITHIN_MS },
    ...(chance.happens(0.5) ? [death] : []),
  ];
}

/** In some scenarios the first leaders die with their first grants. */
export function drawFirstDeaths(draw: Draw): Fault[] {
  const { chance, places } = draw;
  if (!chance.happens(0.03)) return [];
  return Array.from({ length: places }, (_, place) => place)
    .filter(() => chance.happens(0.7))
    .map((place) => ({ kind: 'crash', atMs: 0, place, step: 'acquire carried out', ...drawRestart(draw) }));
}

/** One node of a cluster fails over and the other one does not. */
export function drawNodeFailovers(draw: Draw, temper: Temper): Fault[] {
  const { chance, setting } = draw;
  if (!setting.isCluster) return [];
  return Array.from({ length: chance.pick([1, 2, 3]) }, () => ({
    kind: 'node-failover',
    atMs: chance.between(0.05, 1) * setting.faultsForMs,
    node: chance.pick(['locks', 'locks', 'sessions']),
    lostMs: temper === 'harsh' ? chance.pick([0, 100, drawDurationMs(draw), Infinity]) : 0,
    downForMs: chance.pick([10, 300, drawDurationMs(draw)]),
  }));
}
