import { type Grant, type Refusal } from '../store/lock-store.js';
import { type Clock } from '../base/time/clock.js';

/** The store keeps the state of a lock for so long after the last grant or renewal. Later tokens are larger without it, too. */
export const STATE_LIFE_MS = 24 * 60 * 60 * 1_000;
/** How many known locks each request checks. A request adds at most one, so the old ones are forgotten faster than new ones come. */
const CHECKED_PER_REQUEST = 2;

/** What this process knows about one lock, from all its requests. */
export class KnownLock {
  /** The highest fencing token seen, 0 if none. */
  token = 0;
  /** When the state of the lock was created, in the latest answer. */
  stateCreatedAt: number | undefined;
  /** Number of open requests and handles. */
  users = 0;
  /** When it is forgotten if it has no users. */
  forgetAtMs = 0;
  #longestLifeMs = 0;
  #lostAtMs = -Infinity;
  /** When the lock was last seen to be held with this state, by the clock of the store. */
  #heldAt = 0;

  constructor(private readonly clock: Clock) {}

  /** Notes that a holder has, or may have, the lock for so long without a renewal. */
  sawLife(lifeMs: number): void {
    this.#longestLifeMs = Math.max(this.#longestLifeMs, lifeMs);
  }

  /** How long the lock may still be valid for a holder that the store has forgotten. */
  get waitMs(): number {
    return Math.max(this.#lostAtMs + this.#longestLifeMs - this.clock.now(), 0);
  }

  granted(grant: Grant): void {
    this.token = Math.max(this.token, grant.token);
    this.stateCreatedAt = grant.stateCreatedAt;
    this.#heldAt = grant.storeTime;
  }

  refused(refusal: Refusal): void {
    const { stateCreatedAt } = this;
    const isOther = stateCreatedAt !== undefined && stateCreatedAt !== refusal.stateCreatedAt;
    // The holder renewed the lock within its life before it was seen. A state that is not renewed for so long has expired, and was not lost.
    const unrenewedMs = (refusal.stateCreatedAt ?? refusal.storeTime) - this.#heldAt + this.#longestLifeMs;
    const hasExpired = unrenewedMs >= STATE_LIFE_MS;
    if (isOther && !hasExpired) this.#lostAtMs = this.clock.now();
    this.token = Math.max(this.token, refusal.token);
    if (refusal.holder !== undefined && !isOther) this.#heldAt = refusal.storeTime;
    this.stateCreatedAt = refusal.stateCreatedAt;
    this.sawLife(refusal.ttlMs);
  }

  left(): void {
    this.users -= 1;
    this.forgetAtMs = this.clock.now() + this.#longestLifeMs;
  }
}

/**
 * What this process knows about each lock that it requests or holds. It is kept for as long as the lock may live after that. So fencing
 * tokens grow, and a new holder waits for the old one, also after the store lost its data.
 */
export class KnownLocks {
  readonly #kept = new Map<string, KnownLock>();

  constructor(private readonly clock: Clock) {}

  /** The number of known locks. */
  get size(): number {
    return this.#kept.size;
  }

  /** Keeps what is known about a lock at least until `remove` is called. */
  addUser(name: string, expiryMs: number): { readonly known: KnownLock; readonly remove: () => void } {
    this.#forgetSome();
    const known = this.#find(name) ?? this.#begin(name);
    known.users += 1;
    known.sawLife(expiryMs);
    let isIn = true;
    const remove = (): void => {
      if (isIn) known.left();
      isIn = false;
    };
    return { known, remove };
  }

  #find(name: string): KnownLock | undefined {
    const known = this.#kept.get(name);
    return known === undefined || this.#isOver(known) ? undefined : known;
  }

  #begin(name: string): KnownLock {
    const known = new KnownLock(this.clock);
    this.#kept.set(name, known);
    return known;
  }

  /** Checks the oldest entries instead of setting timers. An entry that is still needed moves to the end of the queue. */
  #forgetSome(): void {
    let checked = 0;
    for (const [name, known] of this.#kept) {
      if (checked === CHECKED_PER_REQUEST) return;
      checked += 1;
      this.#kept.delete(name);
      if (!this.#isOver(known)) this.#kept.set(name, known);
    }
  }

  #isOver({ users, forgetAtMs }: KnownLock): boolean {
    return users === 0 && this.clock.now() >= forgetAtMs;
  }
}
