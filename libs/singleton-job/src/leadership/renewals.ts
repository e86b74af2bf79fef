import { type Clock, SharedInterval } from '../time/index.js';

/** A lock that this replica holds: of a job, or of a caller of `LockService`. */
export interface Renewable {
  readonly name: string;
  /** Renews the lock. A second call while a renewal is under way waits for its answer. */
  renew(): Promise<void>;
  /** Renews the lock with a request that is sent after this call. */
  renewAfresh(): Promise<void>;
}

/** The held locks of this replica. Those with the same interval are renewed together. */
export class Renewals {
  readonly #locks = new Map<string, Set<Renewable>>();
  readonly #intervals = new Map<number, SharedInterval>();

  constructor(private readonly clock: Clock) {}

  /** Renews a lock once an interval until the returned function is called. */
  add(lock: Renewable, intervalMs: number): () => void {
    const interval = this.#intervals.get(intervalMs) ?? new SharedInterval(this.clock, intervalMs);
    this.#intervals.set(intervalMs, interval);
    const locks = this.#locks.get(lock.name) ?? new Set();
    this.#locks.set(lock.name, locks.add(lock));
    const remove = interval.add(() => void lock.renew());
    return () => {
      remove();
      locks.delete(lock);
      if (locks.size === 0 && this.#locks.get(lock.name) === locks) this.#locks.delete(lock.name);
    };
  }

  /** Renews all locks now: after a reconnect. */
  renewAll(): void {
    for (const locks of this.#locks.values()) for (const lock of locks) void lock.renew();
  }

  /** Renews a lock now that another replica may have: the answer shows whether this replica still has it. */
  check(name: string): void {
    for (const lock of this.#locks.get(name) ?? []) void lock.renewAfresh();
  }

  stop(): void {
    for (const interval of this.#intervals.values()) interval.stop();
  }
}
