import { type Clock, type Instant } from '../base/time/clock.js';
import { type LeaseId, lifeOf } from '../store/store.js';
import { type Holder } from './record.js';

/** Its owner stops relying on a lease so much of its life before the store ends it. */
const SAFETY_MARGIN = 0.1;

/** How long the owner of a lease may rely on it after the request that renewed it was sent. */
export function trustedMs(lifeMs: number): number {
  return lifeMs * (1 - SAFETY_MARGIN);
}

/** Whether the moment has not come by either clock. */
export function isBefore(clock: Clock, { now, wall }: Instant): boolean {
  return clock.now() < now && clock.wallNow() < wall;
}

/** "This replica is alive", as its owner knows it. */
export class Lease {
  readonly lifeMs: number;
  /**
   * Until then the owner relies on it: nine tenths of its life after the last confirmed request left. By the monotonic clock it is given up
   * then. By the wall clock alone, which may jump, no run starts. Undefined: never confirmed.
   */
  deadline: Instant | undefined;
  /** Not confirmed yet in this incarnation. */
  mustGrant = true;

  constructor(readonly id: LeaseId) {
    this.lifeMs = lifeOf(id);
  }

  /** A request that was sent at `sent` has renewed it. An answer that is late changes nothing. */
  extend(sent: Instant): void {
    const ms = trustedMs(this.lifeMs);
    if (this.deadline !== undefined && sent.now + ms < this.deadline.now) return;
    this.deadline = { now: sent.now + ms, wall: sent.wall + ms };
  }

  /** Whether a run may start under it. */
  isValid(clock: Clock): boolean {
    return this.deadline !== undefined && isBefore(clock, this.deadline);
  }
}

/** The leases of this replica that are in use: one for each `lockExpiry`. */
export class OwnLeases {
  readonly #byLife = new Map<number, Lease>();
  #made = 0;
  #attempts = 0;

  constructor(private readonly replicaId: string) {}

  get all(): readonly Lease[] {
    return [...this.#byLife.values()];
  }

  get(lifeMs: number): Lease | undefined {
    return this.#byLife.get(lifeMs);
  }

  /** The lease with this id, if it is in use. */
  find(id: LeaseId): Lease | undefined {
    const lease = this.#byLife.get(lifeOf(id));
    return lease?.id === id ? lease : undefined;
  }

  make(lifeMs: number): Lease {
    this.#made += 1;
    const lease = new Lease(`${this.replicaId}.${this.#made}@${lifeMs}`);
    this.#byLife.set(lifeMs, lease);
    return lease;
  }

  /** A holder that has never been: each take has one of its own. */
  nextHolder({ id }: Lease): Holder {
    this.#attempts += 1;
    return `${id}#${this.#attempts}`;
  }

  /** It is not used any more. The next one of this life has another id. */
  end(lease: Lease): void {
    if (this.#byLife.get(lease.lifeMs) === lease) this.#byLife.delete(lease.lifeMs);
  }
}
