import { type Clock, type Instant } from '../base/time/clock.js';
import { isLeaseId, type LeaseId, ttlOf, replicaOf } from '../store/lease-id.js';
import { type Incarnation, type SyncResult } from '../store/store.js';
import { isFarAhead, MAX_TIME } from './record.js';

/** What this replica has seen of the store, apart from records. Only answers change it. */
export class StoreView {
  /** Of the last answer that had one. Its `id` is empty until then: no record has that. */
  incarnation: Incarnation = { id: '', since: Infinity, isFirst: false };
  /**
   * When this replica met the incarnation: by the monotonic clock, and by the clock of the store, or the latest time
   * that it had met before. No claim in earlier data is later.
   */
  observedAt = { now: Infinity, storeTime: Infinity };
  /** This replica saw another incarnation before this one. */
  hasChanged = false;
  /** The longest TTL of a lease that it has met. */
  maxTtlMs = 0;
  /** Every living lease, and for how many milliseconds it lived on at the time of the answer. */
  leases: ReadonlyMap<LeaseId, number> = new Map();
  /** How many replicas are alive. */
  replicas = 0;
  /** The store has answered, but no replica has kept a lease in it yet. */
  hasNoIncarnation = false;
  /** The last answer was the first, or other leases lived than in the one before. */
  hasOtherLeases = false;
  /** The time of the store in its last answer. */
  storeTime = 0;
  /** The latest time of the store, or fencing token, that it has met, also of servers and in records of before. */
  latestTime = 0;
  /** When the last answer was read, by the monotonic clock. */
  #observedAt = 0;
  /** When the request of that answer was sent. */
  #sent: Instant = { now: 0, wall: 0 };

  constructor(
    /** Which has seen it. */
    readonly replicaId: string,
    private readonly clock: Clock,
  ) {}

  /** The store has shown no incarnation yet. */
  get isEmpty(): boolean {
    return this.incarnation.id === '';
  }

  /** The time of the store, by its last answer. */
  storeNow(): number {
    return Math.floor(this.storeTime + this.clock.now() - this.#observedAt);
  }

  /**
   * The latest that the time of the store can be: the answer may have taken all of its time on its way back, and the
   * monotonic clock stood still while the host was suspended.
   */
  storeNowAtMost(): number {
    const now = this.clock.now();
    const wall = this.clock.wallNow(now);
    return Math.ceil(this.storeTime + Math.max(now - this.#sent.now, wall - this.#sent.wall));
  }

  /** When a lease ends unless it is renewed, by the monotonic clock of this replica. */
  endsAt(lease: LeaseId): number {
    return this.#observedAt + (this.leases.get(lease) ?? 0);
  }

  /** Whether the answer shows other data than those of before. */
  observe({ time, incarnation, leases: all }: SyncResult, sent: Instant): boolean {
    // another program may have put something there
    const leases = new Map([...all].filter(([id]) => isLeaseId(id)));
    const areSame = leases.size === this.leases.size && [...leases.keys()].every((id) => this.leases.has(id));
    this.hasOtherLeases = this.isEmpty || !areSame;
    this.hasNoIncarnation = incarnation.id === '';
    const isNew = !this.hasNoIncarnation && this.incarnation.id !== incarnation.id;
    // an occurrence may have been claimed since the last answer, before the clock was set back
    if (!this.isEmpty) this.noteTime(this.storeNow());
    if (isNew) {
      this.hasChanged = !this.isEmpty;
      const earlier = this.hasChanged ? [this.storeNow(), this.latestTime] : [];
      const storeTime = Math.max(incarnation.since, ...earlier.filter((one) => !isFarAhead(one, time)));
      this.incarnation = incarnation;
      this.observedAt = { now: this.clock.now(), storeTime };
    }
    this.storeTime = time;
    this.noteTime(time);
    this.#observedAt = this.clock.now();
    this.#sent = sent;
    this.leases = leases;
    if (!areSame) this.replicas = new Set([...leases.keys()].map(replicaOf)).size;
    for (const id of leases.keys()) this.noteTtl(ttlOf(id));
    return isNew && this.hasChanged;
  }

  /** A number that is no time is in a record of another program, and must not reach the others. */
  noteTime(time: number): void {
    if (time <= MAX_TIME) this.latestTime = Math.max(this.latestTime, time);
  }

  noteTtl(ttlMs: number): void {
    this.maxTtlMs = Math.max(this.maxTtlMs, ttlMs);
  }
}
