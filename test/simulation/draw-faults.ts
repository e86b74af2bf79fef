import { type Chance } from './chance.js';
import { type Draw, drawDurationMs, drawExpiryMs, drawPlace, drawRestart, rollingRestart } from './draw.js';
import { type Fault, JOBS, type Request, type Step } from './plan.js';
import { GOOD_CONDITIONS, type NetworkConditions } from './network-conditions.js';

const DAY_MS = 86_400_000;

export function drawFaults(draw: Draw, drawFault: (draw: Draw, atMs: number) => readonly Fault[]): Fault[] {
  const { chance, setting } = draw;
  const faults: Fault[] = [];
  let atMs = chance.between(0.1, 0.6) * drawExpiryMs(draw);
  while (atMs < setting.faultsForMs) {
    faults.push(...drawFault(draw, atMs));
    atMs += chance.between(0.05, 1.4) * drawExpiryMs(draw);
  }
  return faults.sort((a, b) => a.atMs - b.atMs);
}

export function drawDeath(draw: Draw, atMs: number): readonly Fault[] {
  const { chance, places } = draw;
  const place = drawPlace(chance, places);
  const restart = drawRestart(draw);
  if (chance.happens(0.6)) return [{ kind: 'kill', atMs, place, ...restart }];
  return [{ kind: 'crash', atMs, place, step: drawStep(chance), ...restart }];
}

/** Deaths, and leaders that give their jobs back. */
export function drawEnd(draw: Draw, atMs: number): readonly Fault[] {
  const { chance, places } = draw;
  const place = drawPlace(chance, places);
  if (chance.happens(0.5)) return drawDeath(draw, atMs);
  return [
    chance.happens(0.3) ? { kind: 'step-down', atMs, place } : { kind: 'stop', atMs, place, ...drawRestart(draw) },
  ];
}

export function drawMild(draw: Draw, atMs: number): readonly Fault[] {
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

export function drawHarsh(draw: Draw, atMs: number): readonly Fault[] {
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

function drawServerRestart(draw: Draw): { readonly downForMs: number; readonly isNoticed: boolean } {
  const { chance } = draw;
  return { downForMs: chance.pick([10, 10, 300, drawDurationMs(draw)]), isNoticed: chance.happens(0.7) };
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
