import { createHash } from 'node:crypto';
import { type CronSchedule, type FixedRateSchedule } from './schedule.js';

const HASHES = 2 ** 32;

/**
 * The ticks of a schedule, each delayed by less than `jitterMs` and by less than the distance to the next tick. The
 * tick and the name of the job give the delay, which is the same on every replica. A delayed tick is a tick like any
 * other: it is due, late and missed by its own time, so the loops and the store need not know that it is delayed.
 */
export function jittered<S extends FixedRateSchedule | CronSchedule>(base: S, jitterMs: number, jobName: string): S {
  const delayed = (tick: number): number => {
    const distanceMs = (base.next(tick) ?? Infinity) - tick;
    return tick + Math.floor((hashOf(`jitter ${jobName} ${tick}`) / HASHES) * Math.min(jitterMs, distanceMs));
  };
  const ifAny = (tick: number | undefined): number | undefined => (tick === undefined ? undefined : delayed(tick));
  const schedule: S = {
    ...base,
    summary: `${base.summary} jitter ${jitterMs}ms`,
    description: `${base.description} jitter ${jitterMs}ms`,
    next: (previous: number) => {
      const soonest = base.next(previous - jitterMs);
      // no tick of before is still to come; the newest of before takes much longer to find
      if (soonest === undefined || soonest > previous) return ifAny(soonest);
      const last = ifAny(base.latest(previous));
      return last !== undefined && last > previous ? last : ifAny(base.next(previous));
    },
    latest: (upTo: number) => {
      const last = base.latest(upTo);
      return last === undefined || delayed(last) <= upTo ? ifAny(last) : ifAny(base.latest(last - 1));
    },
  };
  return Object.freeze(schedule);
}

/** An unsigned number of 32 bits. Must never change: replicas of different versions must get the same jitter. */
function hashOf(seed: string): number {
  return createHash('sha256').update(seed).digest().readUInt32BE();
}
