import { type Clock } from '../base/time/clock.js';
import { SharedInterval } from '../base/time/shared-interval.js';

/** Renews a lock that this replica holds: of a job, or of a caller of `LockService`. One renewal is under way at a time. */
export class LockRenewal {
  #underWay: Promise<void> | undefined;

  constructor(
    readonly name: string,
    /** Aborts when the lease is over: then nothing is sent any more. */
    private readonly signal: AbortSignal,
    /** Sends a request until it is answered or `signal` aborts. Never rejects. */
    private readonly send: () => Promise<unknown>,
  ) {}

  /** Resolves when the lock is confirmed or lost, or the lease over. A second call waits for the same answer. */
  renew(): Promise<void> {
    this.#underWay ??= this.send().then(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** Renews after a renewal under way, so that the request is sent after this call. */
  async renewAfresh(): Promise<void> {
    await this.#underWay;
    if (!this.signal.aborted) await this.renew();
  }
}

/** The held locks of this replica. Those with the same interval are renewed together. */
export class Renewals {
  readonly #locks = new Map<string, Set<LockRenewal>>();
  readonly #intervals = new Map<number, SharedInterval>();

  constructor(private readonly clock: Clock) {}

  /** Renews a lock once an interval until the returned function is called. */
  add(lock: LockRenewal, intervalMs: number): () => void {
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
