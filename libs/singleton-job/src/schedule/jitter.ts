import { type Occurrences, windowsOf } from './cron/occurrences.js';
import { hashOf } from './hash.js';
import { type CronSchedule, type FixedRateSchedule } from './schedule.js';

const HASHES = 2 ** 32;

/** How a schedule is delayed. */
interface Jitter {
  /** Each tick is delayed by less than this, and by less than the distance to the next tick. */
  readonly jitterMs: number;
  /** With the tick it gives the delay, which is the same on every replica. */
  readonly jobName: string;
}

/**
 * The ticks of a fixed rate, each delayed. A delayed tick is a tick like any other: it is due, late and missed by its own time, so the loops
 * and the store need not know that it is delayed.
 */
export function jitteredRate(base: FixedRateSchedule, jitter: Jitter): FixedRateSchedule {
  const { next, latest } = jittered(
    { next: (previous) => base.next(previous), latest: (upTo) => base.latest(upTo) },
    jitter,
  );
  return Object.freeze({
    ...base,
    description: describe(base.description, jitter),
    next: (previous: number) => next(previous) ?? base.next(previous),
    latest: (instant: number) => latest(instant) ?? base.latest(instant),
    slotOf: (tick: number) => base.latest(tick),
  });
}

/** The occurrences of a cron expression, each delayed, as {@link jitteredRate} does it. */
export function jitteredCron(base: CronSchedule, jitter: Jitter): CronSchedule {
  const occurrences = {
    next: (previous: number) => base.next(previous),
    latest: (upTo: number) => base.latest(-Infinity, upTo),
  };
  return Object.freeze({
    ...base,
    description: describe(base.description, jitter),
    ...windowsOf(jittered(occurrences, jitter)),
  });
}

function jittered(base: Occurrences, { jitterMs, jobName }: Jitter): Occurrences {
  const delayed = (tick: number): number => {
    const distanceMs = (base.next(tick) ?? Infinity) - tick;
    return tick + Math.floor((hashOf(`jitter ${jobName} ${tick}`) / HASHES) * Math.min(jitterMs, distanceMs));
  };
  return {
    next: (previous) => {
      const last = base.latest(previous);
      if (last !== undefined && delayed(last) > previous) return delayed(last);
      const following = base.next(previous);
      return following === undefined ? undefined : delayed(following);
    },
    latest: (upTo) => {
      const last = base.latest(upTo);
      if (last === undefined || delayed(last) <= upTo) return last === undefined ? undefined : delayed(last);
      const before = base.latest(last - 1);
      return before === undefined ? undefined : delayed(before);
    },
  };
}

function describe(description: string, { jitterMs }: Jitter): string {
  return `${description} jitter ${jitterMs}ms`;
}
