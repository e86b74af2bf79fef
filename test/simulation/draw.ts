import { type Chance } from './chance.js';
import { type Fault, JOBS, type Restart, type Setting } from './plan.js';
import { type ClockFaults } from './process-clock.js';

const DAY_MS = 86_400_000;

/** What the faults of a scenario are drawn from. */
export interface Draw {
  readonly chance: Chance;
  readonly setting: Setting;
  readonly places: number;
}

/** Wall clocks that are off by a little, by much or by a day. Monotonic clocks at real rates and beyond. */
export function drawClock(chance: Chance): ClockFaults {
  return {
    aheadMs: chance.pick([0, 0, 0, -700, 900, -20_000, 15_000, DAY_MS, -DAY_MS]),
    rate: chance.between(0.998, 1.002),
  };
}

/** One of the leases of the setting: a fault may last as long as this lease, or hit during the lease of another job. */
export function drawExpiryMs({ chance, setting }: Draw): number {
  return setting.version.lockExpiryMs[chance.pick(JOBS)];
}

export function drawPlace(chance: Chance, places: number): number {
  return Math.floor(chance.between(0, places));
}

/** From a moment to longer than a lease. */
export function drawDurationMs(draw: Draw): number {
  const { chance } = draw;
  return chance.pick([0.05, 0.3, 1, 2.5]) * chance.between(0.5, 1) * drawExpiryMs(draw);
}

export function drawRestart(draw: Draw): Restart {
  const { chance } = draw;
  return { downForMs: chance.between(0.01, 1.5) * drawExpiryMs(draw), clock: drawClock(chance) };
}

/** Every process is stopped and replaced, one after another or nearly at once. */
export function rollingRestart(draw: Draw, atMs: number): readonly Fault[] {
  const { chance, places } = draw;
  const everyMs = chance.happens(0.3) ? 1 : drawDurationMs(draw);
  return Array.from({ length: places }, (_, place) => ({
    kind: 'stop',
    atMs: atMs + place * everyMs,
    place,
    ...drawRestart(draw),
  }));
}
