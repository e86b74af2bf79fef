import { setTimeout as delay } from 'node:timers/promises';
import { type Chance } from '../../test/simulation/chance.js';
import { JOBS } from '../../test/faults/replica/order.js';
import { type Fleet } from './fleet.js';
import { type Bound, LOCK_EXPIRY_MS, PATIENCE_MS } from './settings.js';
import { type Slot } from './slot.js';

/** Where a fault strikes, and what it draws from. */
export interface Field {
  readonly fleet: Fleet;
  readonly chance: Chance;
  /** The bound counts from now: what was before is the outage itself. */
  readonly since: () => void;
}

/** Something that goes wrong. */
export interface Fault {
  readonly name: string;
  /** How long a job may be without a leader. */
  readonly bound: Bound;
  /** Whether it strikes a replica or Redis, and may do so while the other is struck too; left out where it may not. */
  readonly side?: 'replica' | 'redis';
  /** Strikes, lasts and heals. Rejects where it did not happen. */
  readonly strike: (field: Field) => Promise<void>;
}

/** A fault that only seemed to be injected shows nothing. */
export class NothingHappened extends Error {
  constructor(what: string) {
    super(`the fault did not happen: not so that ${what}`);
  }
}

/** Rejects if what a fault waits for does not come, unless somebody has stopped waiting. */
export function tooLate(what: string, { signal }: AbortController): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(() => {
      reject(new NothingHappened(what));
    }, PATIENCE_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
    });
  });
}

/** Call it when all is healed. */
export function happened(what: string, has: boolean): void {
  if (!has) throw new NothingHappened(what);
}

/** Tells the checker that these replicas are kept from Redis, or slow to reach it, for as long as this takes. @default all are */
export async function hindering(
  { fleet: { witness } }: Field,
  trouble: () => Promise<unknown>,
  slots?: readonly Slot[],
): Promise<void> {
  const replicas = slots?.map(({ replica }) => replica.name) ?? [''];
  for (const replica of replicas) witness.note('hindered', replica);
  try {
    await trouble();
  } finally {
    for (const replica of replicas) witness.note('unhindered', replica);
  }
}

/** The slot of a leader: of any job, unless it is said of which. Where nobody leads, any slot. */
export function victim({ fleet, chance }: Field, job: string = chance.pick(JOBS)): Slot {
  const [leader] = fleet.leadership.of(job);
  const [first, ...others] = fleet.slots;
  if (first === undefined) throw new Error('a fleet has replicas');
  return fleet.slots.find(({ replica }) => replica.name === leader) ?? chance.pick([first, ...others]);
}

/** Waits for longer than any lock lives. */
export function outliveLease({ chance }: Field): Promise<void> {
  return delay(chance.between(1.25, 2) * LOCK_EXPIRY_MS);
}
