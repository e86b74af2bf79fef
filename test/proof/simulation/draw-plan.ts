import { Chance } from './chance.js';
import { drawClock } from './draw.js';
import {
  drawAbsences,
  drawBlocks,
  drawRollOut,
  drawStepDowns,
  drawStoreClockJumps,
  drawStoreClockSteps,
} from './draw-extra.js';
import { drawDeath, drawFaults, drawHarsh, drawMild } from './draw-faults.js';
import { drawEarlyTimersMs, drawSetting, drawThreads } from './draw-setting.js';
import { type Fault, type Plan, type Temper } from './plan.js';

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
  const earlyTimersMs = drawEarlyTimersMs(Chance.of(seed, 'timers'));
  const drawn = { ...drawSetting(chance, temper), threads, earlyTimersMs };
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
  const absences = drawAbsences({ chance: Chance.of(seed, 'absences'), setting, places });
  const clockJumps = drawStoreClockJumps({ chance: Chance.of(seed, 'store-clock-jumps'), setting, places });
  const all = [...faults, ...restarts, ...stepDowns, ...clockSteps, ...blocks, ...absences, ...clockJumps];
  return { seed, setting, clocks, faults: all.filter(isPlayed(all)).sort((a, b) => a.atMs - b.atMs) };
}

/** A leader cannot find out that its lock was deleted while the store refuses renewals. */
function isPlayed(all: readonly Fault[]): (fault: Fault) => boolean {
  const isDeleted = all.some(({ kind }) => kind === 'lock-deleted');
  return (fault) => !(isDeleted && fault.kind === 'store-refuses' && fault.request === 'renew');
}
