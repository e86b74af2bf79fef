import { type Clock, type Instant } from '../base/time/clock.js';
import { type Holder, holderOf, leaseId, type LeaseId, ttlOf } from '../store/lease-id.js';
import { type SyncRequest, type SyncResult } from '../store/store.js';
import { type Heartbeat, type Sync } from './heartbeat.js';

/** The part of its TTL, at its end, in which the store still keeps a lease and its owner does not rely on it. */
const SAFETY_MARGIN = 0.1;

/** How long the owner of a lease may rely on it after the request that renewed it was sent. */
export function trustedMs(ttlMs: number): number {
  return ttlMs * (1 - SAFETY_MARGIN);
}

/** Whether the moment has not come by either clock. */
export function isBefore(clock: Clock, { now, wall }: Instant): boolean {
  const present = clock.now();
  return present < now && clock.wallNow(present) < wall;
}

/** "This replica is alive", as its owner knows it. */
export class Lease {
  readonly ttlMs = ttlOf(this.id);
  /** The store has not confirmed the lease in this incarnation, so the next sync asks to grant it, not to renew it. */
  mustGrant = true;

  constructor(
    readonly id: LeaseId,
    /**
     * Until then the owner relies on the lease: nine tenths of its TTL after the last confirmed request left. Past it
     * by the monotonic clock, the lease is over. Past it by the wall clock alone, which may jump, no run starts.
     * Undefined: the store has not confirmed the lease yet.
     */
    public deadline?: Instant,
  ) {}

  /** A request that was sent at `sent` has renewed it. An answer that is late changes nothing. */
  extend(sent: Instant): void {
    const ms = trustedMs(this.ttlMs);
    if (this.deadline !== undefined && sent.now + ms < this.deadline.now) return;
    this.deadline = { now: sent.now + ms, wall: sent.wall + ms };
  }

  /** Whether a run may start under it. */
  isValid(clock: Clock): boolean {
    return this.deadline !== undefined && isBefore(clock, this.deadline);
  }
}

/** The leases of this replica that are in use: one for each `lockExpiry`. After one that has ended comes another id. */
export class ReplicaLeases {
  /** The leases in use, by `ttlMs`. */
  readonly #byTtl = new Map<number, Lease>();
  /** How many leases this replica has made: the number in the id of the last one. */
  #made = 0;
  /** How many holders this replica has made: the number of the last attempt to take a record. */
  #attempts = 0;

  constructor(
    private readonly replicaId: string,
    private readonly clock: Clock,
    private readonly heartbeat: Heartbeat,
  ) {}

  get all(): readonly Lease[] {
    return [...this.#byTtl.values()];
  }

  /** What the next sync asks for. */
  get requests(): Pick<SyncRequest, 'renew' | 'grant'> {
    const ids = (mustGrant: boolean) => this.all.filter((one) => one.mustGrant === mustGrant).map(({ id }) => id);
    return { renew: ids(false), grant: ids(true) };
  }

  /** The lease with this id, if it is in use. */
  find(id: LeaseId): Lease | undefined {
    const lease = this.get(ttlOf(id));
    return lease?.id === id ? lease : undefined;
  }

  get(ttlMs: number): Lease | undefined {
    return this.#byTtl.get(ttlMs);
  }

  /** The lease with this TTL. If there is none, it is made, and a sync leaves at once. */
  of(ttlMs: number): Lease {
    const existing = this.get(ttlMs);
    if (existing !== undefined) return existing;
    const lease = new Lease(this.newId(ttlMs));
    this.#byTtl.set(ttlMs, lease);
    this.heartbeat.requestSync();
    return lease;
  }

  /** The id of a lease that has never been. */
  newId(ttlMs: number): LeaseId {
    this.#made += 1;
    return leaseId(this.replicaId, this.#made, ttlMs);
  }

  /** A holder that has never been: each take has one of its own. */
  nextHolder({ id }: Lease): Holder {
    this.#attempts += 1;
    return holderOf(id, this.#attempts);
  }

  /** Those that are past their deadline. */
  expire(): void {
    const now = this.clock.now();
    for (const lease of this.all)
      if (lease.deadline !== undefined && now >= lease.deadline.now) this.#byTtl.delete(lease.ttlMs);
  }

  /** Ends all leases for this replica, whatever the store keeps: no run starts under them from now on. */
  expireAll(): void {
    for (const lease of this.all) lease.deadline = { now: -Infinity, wall: -Infinity };
    this.expire();
  }

  /** A sync has confirmed leases, and ends those that are not in its answer. */
  answered({ request, sent }: Sync, { leases }: SyncResult): void {
    for (const lease of [...request.renew, ...request.grant].flatMap((id) => this.find(id) ?? [])) {
      if (leases.has(lease.id)) {
        lease.mustGrant = false;
        lease.extend(sent);
      } else this.#byTtl.delete(lease.ttlMs);
    }
  }

  /** Another incarnation: what is still trusted is granted there. */
  incarnationChanged(): void {
    for (const lease of this.all) {
      if (lease.deadline === undefined || lease.isValid(this.clock)) lease.mustGrant = true;
      else this.#byTtl.delete(lease.ttlMs);
    }
  }
}
