import { lockLifeMs } from '../store/lock-store.js';
import { Sleeper } from '../base/time/sleeper.js';
import { type KnownHolder } from './known-holder.js';
import { AFTER_TTL_MS, afterTtlMs } from './lease.js';
import { type Replica } from './replica.js';
import { safetyNetMs, spreadMs } from './request-times.js';
import { RENEWAL_INTERVAL_MS } from './term.js';

/** After a reconnect, or without messages, a follower whose leader is alive sends a request within this time. */
const REQUEST_WITHIN_MS = 10_000;
/** Leaders renew their locks every 10 s. A lock that was not renewed for so long names a replica that does not lead. */
const RENEWAL_CHECK_MS = 1.5 * RENEWAL_INTERVAL_MS;

interface NextRequestParts {
  readonly replica: Pick<Replica, 'context' | 'heartbeats' | 'jobs' | 'list' | 'messages'>;
  readonly lockExpiryMs: number;
  readonly holder: KnownHolder;
  /** How long no replica may take the lock after a restart of the store: see `AfterRestart.waitMs`. */
  readonly waitMs: (storeTime?: number) => number;
}

/** When a follower sends its next request. The earliest of all reasons counts. */
export class NextRequest {
  /** Undefined: this replica does not compete at the moment. */
  #sleeper: Sleeper | undefined;
  /** The store may have restored the lock of a replica that does not renew it. A request at this time shows whether it does. */
  #renewalCheckAtMs = -Infinity;
  /** From when on the next heartbeat is followed by a request. Those of all jobs leave together, so a store can take them as one. */
  #safetyNetAtMs = Infinity;

  constructor(private readonly parts: NextRequestParts) {}

  /** Whether this replica competes. */
  get isWanted(): boolean {
    return this.#sleeper !== undefined;
  }

  /** Calls `request` each time that a request is due, until it returns something or `stop` aborts. */
  async each<T>(stop: AbortSignal, request: () => Promise<T | undefined>): Promise<T | undefined> {
    const sleeper = new Sleeper(this.parts.replica.context.clock, stop);
    this.#sleeper = sleeper;
    this.in(0);
    try {
      while (!stop.aborted) {
        await sleeper.untilDue();
        const result = await request();
        if (result !== undefined) return result;
      }
      return undefined;
    } finally {
      sleeper.reset();
      this.#sleeper = undefined;
    }
  }

  /** Forgets all reasons. */
  reset(): void {
    this.#sleeper?.reset();
    this.#safetyNetAtMs = Infinity;
  }

  /** After `delayMs` at the latest. */
  in(delayMs: number): void {
    this.#sleeper?.wakeIn(delayMs);
  }

  /** After a short random wait, so that not all followers send a request at once. `extraMs` is added to it. */
  soon(extraMs = 0): void {
    this.in(extraMs + this.#spreadMs());
  }

  /** Within 10 s, so that not all followers of all jobs send a request at once. */
  within10s(): void {
    this.in(this.parts.replica.context.random() * REQUEST_WITHIN_MS);
  }

  /** After the wait that follows a restart of the store. */
  afterWait(storeTime?: number): void {
    this.in(this.parts.waitMs(storeTime) + AFTER_TTL_MS + this.#spreadMs());
  }

  /** When the lock has expired, if it is not renewed. */
  afterTtl(ttlMs: number): void {
    this.in(afterTtlMs(ttlMs, this.parts.replica.context.random));
  }

  /** The lock is held: for everything that no event reports. `ttlMs` is the life of the lock in the store. */
  whileHeld(ttlMs = lockLifeMs(this.parts.lockExpiryMs)): void {
    const { holder, replica, waitMs } = this.parts;
    if (holder.hasEnded) {
      this.soon();
      return;
    }
    // The life of the lock counts if no heartbeat will show the end of its holder. It also counts if the lock is not renewed: the data of
    // a restarted store may name a living holder that has left the lock.
    if (!holder.isListed || ttlMs <= holder.renewedLifeMs - RENEWAL_CHECK_MS) this.afterTtl(ttlMs);
    const untilCheckMs = this.#renewalCheckAtMs - replica.context.clock.now();
    if (untilCheckMs > 0) this.in(untilCheckMs);
    if (waitMs() > 0) this.afterWait();
    this.asSafetyNet();
  }

  /** The store may have restored an old lock: while it is held, one request checks whether it is renewed. */
  checkRenewal(): void {
    this.#renewalCheckAtMs = this.parts.replica.context.clock.now() + RENEWAL_CHECK_MS;
  }

  /** Now and then, because messages may get lost. */
  asSafetyNet(): void {
    const { lockExpiryMs, replica } = this.parts;
    const { context, heartbeats, jobs, list, messages } = replica;
    const followers = list.livingCount(lockExpiryMs) - 1;
    const delayMs = safetyNetMs({ followers, jobs: jobs.competing }, context.random);
    const longestMs = messages.isSubscribed ? Infinity : REQUEST_WITHIN_MS - heartbeats.intervalMs;
    this.#safetyNetAtMs = context.clock.now() + Math.min(delayMs, longestMs);
  }

  heartbeatAnswered(): void {
    if (this.parts.replica.context.clock.now() >= this.#safetyNetAtMs) this.in(0);
  }

  #spreadMs(): number {
    const { holder, replica } = this.parts;
    const { context, jobs, list } = replica;
    return spreadMs({ ...jobs, others: holder.otherReplicas, living: list.livingCount() }, context.random);
  }
}
