import { Chance } from './chance.js';
import { type Draw, drawClock } from './draw.js';
import {
  drawAbsences,
  drawBlocks,
  drawExits,
  drawFirstDeaths,
  drawLostResumes,
  drawNodeFailovers,
  drawPauses,
  drawRollOut,
  drawStepDowns,
  drawStoreClockJumps,
  drawStoreClockSteps,
  drawUnregistrations,
} from './draw-extra.js';
import { drawEnd, drawFaults, drawHarsh, drawMild } from './draw-faults.js';
import { drawEarlyTimersMs, drawLockExpiryMs, drawRebalance, drawSetting, drawThreads } from './draw-setting.js';
import { withLongLeasesBefore, withOtherKinds } from './draw-versions.js';
import { type Fault, type Plan, type Temper } from './plan.js';

/** The scenario of a seed. */
export function drawPlan(seed: number): Plan {
  const chance = Chance.of(seed, 'plan');
  const temper = chance.pick<Temper>([
    'ends',
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
  const isCluster = Chance.of(seed, 'cluster').happens(0.12);
  const lockExpiryMs = drawLockExpiryMs(Chance.of(seed, 'locks'));
  const rebalance = drawRebalance(Chance.of(seed, 'rebalance'), temper);
  const drawn = { ...drawSetting(chance, temper), threads, earlyTimersMs, isCluster, lockExpiryMs, rebalance };
  const clocks = Array.from({ length: places }, () => drawClock(chance));
  if (temper === 'ends') {
    const faults = drawFaults({ chance, setting: drawn, places }, drawEnd);
    return { seed, setting: drawn, clocks, faults };
  }
  const [setting, restarts] = drawRollOut({ chance: Chance.of(seed, 'roll-out'), setting: drawn, places });
  const of = (use: string): Draw => ({ chance: Chance.of(seed, use), setting, places });
  const all = [
    ...drawFaults({ chance, setting, places }, temper === 'mild' ? drawMild : drawHarsh),
    ...restarts,
    ...drawStepDowns(of('step-down')),
    ...drawStoreClockSteps(of('store-clock')),
    ...drawBlocks(of('blocks')),
    ...drawAbsences(of('absences')),
    ...drawStoreClockJumps(of('store-clock-jumps')),
    ...drawUnregistrations(of('unregister')),
    ...drawPauses(of('pauses')),
    ...drawExits(of('exits')),
    ...drawLostResumes(of('lost-resumes')),
    ...drawFirstDeaths(of('first-deaths')),
    ...drawNodeFailovers(of('nodes'), temper),
  ];
  const played = all.filter(isPlayed(all)).sort((a, b) => a.atMs - b.atMs);
  const plan = withOtherKinds({ seed, setting, clocks, faults: played }, Chance.of(seed, 'kinds'));
  return withLongLeasesBefore(plan, Chance.of(seed, 'long-leases'));
}

/**
 * A leader cannot find out that its lock was deleted while the store refuses renewals. And without messages a replica that gave a lock back
 * and lives is noticed only by the request that all followers send once a minute.
 */
function isPlayed(all: readonly Fault[]): (fault: Fault) => boolean {
  const has = (kind: Fault['kind']): boolean => all.some((fault) => fault.kind === kind);
  const [isDeleted, isUnregistered] = [has('lock-deleted'), has('unregister')];
  return (fault) =>
    !(isDeleted && fault.kind === 'store-refuses' && fault.request === 'renew') &&
    !(isUnregistered && 'conditions' in fault && fault.conditions.lostMessages > 0);
}
