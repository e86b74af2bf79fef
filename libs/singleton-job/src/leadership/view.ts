import { type Clock, type Instant, instant } from '../base/time/clock.js';
import { type Incarnation, type LeaseId, lifeOf, type SyncResult } from '../store/store.js';
import { isLease, replicaOf } from './record.js';

/** What this replica has seen of the store, apart from records. Only answers change it. */
export class View {
  #incarnation: Incarnation | undefined;
  /** When this replica met the incarnation. */
  metAt: Instant = { now: -Infinity, wall: -Infinity };
  /** This replica saw another incarnation before this one. */
  sawAnother = false;
  /** The longest life of a lease that it has met. */
  longestLifeMs = 0;
  /** Every living lease, and for how many milliseconds it lived on at the time of the answer. */
  leases: ReadonlyMap<LeaseId, number> = new Map();
  /** How many replicas are alive. */
  replicas = 0;
  /** The store has answered, but no replica has kept a lease in it yet. */
  isUnnoted = false;
  /** The time of the store in its last answer. */
  storeTime = 0;
  #seenAt = 0;
  #sent: Instant = { now: 0, wall: 0 };

  constructor(private readonly clock: Clock) {}

  /** @throws TypeError before the first answer: see {@link isEmpty} */
  get incarnation(): Incarnation {
    if (this.#incarnation === undefined) throw new TypeError('the store has not answered yet');
    return this.#incarnation;
  }

  /** The store has not answered yet. */
  get isEmpty(): boolean {
    return this.#incarnation === undefined;
  }

  /** The time of the store, by its last answer. */
  storeNow(): number {
    return Math.floor(this.storeTime + this.clock.now() - this.#seenAt);
  }

  /**
   * The same at most: the answer may have taken all of its time on its way back, and the monotonic clock stood still while the host was
   * suspended.
   */
  storeNowAtMost(): number {
    const { now, wall } = this.#sent;
    return Math.ceil(this.storeTime + Math.max(this.clock.now() - now, this.clock.wallNow() - wall));
  }

  /** When a lease ends unless it is renewed, by the monotonic clock of this replica. */
  endOf(lease: LeaseId): number {
    return this.#seenAt + (this.leases.get(lease) ?? 0);
  }

  /** Whether an answer shows other data than those of before. */
  isOther({ id }: Incarnation): boolean {
    return id !== '' && this.#incarnation !== undefined && this.#incarnation.id !== id;
  }

  /** Answers whether this is the first answer, or the leases of the project are others than before. */
  learn({ time, incarnation, leases: all }: SyncResult, sent: Instant): boolean {
    // another program may have put something there
    const leases = new Map([...all].filter(([id]) => isLease(id)));
    this.#sent = sent;
    const isFirst = this.isEmpty;
    this.isUnnoted = incarnation.id === '';
    if (!this.isUnnoted && this.#incarnation?.id !== incarnation.id) {
      this.sawAnother = this.#incarnation !== undefined;
      this.#incarnation = incarnation;
      this.metAt = instant(this.clock);
    }
    const areSame = leases.size === this.leases.size && [...leases.keys()].every((id) => this.leases.has(id));
    this.storeTime = time;
    this.#seenAt = this.clock.now();
    this.leases = leases;
    if (!areSame) this.replicas = new Set([...leases.keys()].map(replicaOf)).size;
    for (const id of leases.keys()) this.meetLife(lifeOf(id));
    return isFirst || !areSame;
  }

  meetLife(lifeMs: number): void {
    this.longestLifeMs = Math.max(this.longestLifeMs, lifeMs);
  }
}
