import { KnownState } from '../leadership/index.js';
import { type Grant, type Refusal } from '../store/index.js';
import { type Clock } from '../time/index.js';

/** The state of a lock is kept for this long after the lock was last granted; later tokens are larger all the same. */
export const STATE_LIFE_MS = 24 * 60 * 60 * 1_000;
/** Looked at with each request, which adds one at most: so there are never many more than are still of use. */
const LOOKED_AT = 2;

/** What this process knows of one lock, whichever of its requests found out. */
export class KnownLock {
  readonly state = new KnownState();
  /** Requests for the lock, and handles of it. */
  users = 0;
  /** Without users it is forgotten then. */
  forgetAtMs = 0;
  #longestLifeMs = 0;
  #lostAtMs = -Infinity;

  constructor(private readonly clock: Clock) {}

  /** A holder has, or may have, the lock for so long without a renewal. */
  sawLife(lifeMs: number): void {
    this.#longestLifeMs = Math.max(this.#longestLifeMs, lifeMs);
  }

  /** How long a holder that the store has forgotten may still trust the lock. */
  get waitMs(): number {
    return Math.max(this.#lostAtMs + this.#longestLifeMs - this.clock.now(), 0);
  }

  granted(grant: Grant): void {
    this.state.won(grant, '');
  }

  refused(refusal: Refusal): void {
    const { stateCreatedAt } = this.state;
    const isOther = stateCreatedAt !== undefined && stateCreatedAt !== refusal.stateCreatedAt;
    // no token is below the time of its grant: a state that was not granted for so long has expired, and is not lost
    const hasExpired = (refusal.stateCreatedAt ?? refusal.storeTime) - this.state.token >= STATE_LIFE_MS;
    if (isOther && !hasExpired) this.#lostAtMs = this.clock.now();
    this.state.refused(refusal);
    this.sawLife(refusal.ttlMs);
  }

  left(): void {
    this.users -= 1;
    this.forgetAtMs = this.clock.now() + this.#longestLifeMs;
  }
}

/**
 * What this process knows of each lock that it wants or has, and for as long after that as the lock may live: so fencing tokens
 * grow, and a new holder waits for an old one, also if the store loses its data.
 */
export class KnownLocks {
  readonly #kept = new Map<string, KnownLock>();

  constructor(private readonly clock: Clock) {}

  /** How many locks are remembered. */
  get size(): number {
    return this.#kept.size;
  }

  /** A lock is wanted, or held, until `leave` is called. */
  enter(name: string, expiryMs: number): { readonly known: KnownLock; readonly leave: () => void } {
    this.#forgetSome();
    const known = this.#find(name) ?? this.#begin(name);
    known.users += 1;
    known.sawLife(expiryMs);
    let isIn = true;
    const leave = (): void => {
      if (isIn) known.left();
      isIn = false;
    };
    return { known, leave };
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

  /** No timers: those that have waited longest are looked at, and wait at the end of the line if they are still of use. */
  #forgetSome(): void {
    let looked = 0;
    for (const [name, known] of this.#kept) {
      if (looked === LOOKED_AT) return;
      looked += 1;
      this.#kept.delete(name);
      if (!this.#isOver(known)) this.#kept.set(name, known);
    }
  }

  #isOver({ users, forgetAtMs }: KnownLock): boolean {
    return users === 0 && this.clock.now() >= forgetAtMs;
  }
}
