import { type Chance } from './chance.js';
import { type Draw, drawExpiryMs, drawPlace, rollingRestart } from './draw.js';
import { type Fault, type Plan, type Version } from './plan.js';

/** Until all processes are new, and have ended what the old ones left. */
const QUIET_MS = 20_000;
const ROLL_OUT_MS = 5_000;

/** In some roll-outs a job gets another kind of schedule. The clock of a process that runs it may be well ahead. */
export function withOtherKinds(plan: Plan, chance: Chance): Plan {
  const { setting } = plan;
  if (setting.rollOutMs === Infinity || !chance.happens(0.5)) return plan;
  const kinds = chance.pick<Version['kinds']>([
    { grid: 'cron', pause: 'interval', cron: 'fixed-rate', feed: 'while-leader' },
    { grid: 'cron', pause: 'interval', cron: 'while-leader', feed: 'fixed-rate' },
    { grid: 'while-leader', pause: 'cron', cron: 'fixed-rate', feed: 'interval' },
    { grid: 'cron', pause: 'while-leader', cron: 'interval', feed: 'cron' },
  ]);
  const aheadMs = (): number => chance.pick([0, 0, 3_000, 30_000]);
  return {
    ...plan,
    setting: { ...setting, next: { ...setting.next, kinds } },
    clocks: plan.clocks.map((clock) => ({ ...clock, aheadMs: aheadMs() })),
    faults: plan.faults.map((fault) =>
      'clock' in fault ? { ...fault, clock: { ...fault.clock, aheadMs: aheadMs() } } : fault,
    ),
  };
}

/** Some scenarios begin with a version that has a long `lockExpiry`. It is rolled out and its leases end before the first fault. */
export function withLongLeasesBefore(plan: Plan, chance: Chance): Plan {
  const { setting } = plan;
  if (setting.rollOutMs < Infinity || !chance.happens(0.03)) return plan;
  const longMs = chance.pick([30_000, 60_000]);
  const draw = { chance, setting, places: plan.clocks.length };
  const quietMs = ROLL_OUT_MS + QUIET_MS + 1.1 * longMs;
  const restarts = rollingRestart(draw, ROLL_OUT_MS).map((fault) => ({ ...fault, atMs: ROLL_OUT_MS }));
  return {
    ...plan,
    setting: {
      ...setting,
      version: withExpiry(setting.version, longMs),
      next: setting.version,
      rollOutMs: ROLL_OUT_MS,
      faultsForMs: setting.faultsForMs + quietMs,
    },
    faults: [
      ...restarts,
      ...(chance.happens(0.4) ? drawLastOne(draw) : plan.faults).map((fault): Fault => ({
        ...fault,
        atMs: fault.atMs + quietMs,
      })),
    ],
  };
}

function withExpiry(version: Version, lockExpiryMs: number): Version {
  const expiries = { grid: lockExpiryMs, pause: lockExpiryMs, cron: lockExpiryMs, feed: lockExpiryMs };
  return { ...version, lockExpiryMs: expiries };
}

/** One replica is left when the store fails over. */
function drawLastOne(draw: Draw): Fault[] {
  const { chance } = draw;
  const survivor = drawPlace(chance, draw.places);
  const kills = Array.from({ length: draw.places }, (_, place): Fault => ({
    kind: 'kill',
    atMs: 0,
    place,
    downForMs: Infinity,
    clock: { aheadMs: 0, rate: 1 },
  })).filter((_, place) => place !== survivor);
  const expiryMs = drawExpiryMs(draw);
  return [...kills, { kind: 'restart', atMs: 3 * expiryMs, downForMs: 1.5 * expiryMs, isNoticed: true }];
}
