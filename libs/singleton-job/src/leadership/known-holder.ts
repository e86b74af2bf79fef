import { type JobEvents } from '../base/events/events.js';
import {
  type Grant,
  type Holder,
  holderName,
  lockExpiryOf,
  lockLifeMs,
  replicaOf,
  type SessionId,
  sessionOf,
} from '../store/lock-store.js';
import { safetyMarginMs } from './lease.js';
import { type SessionList } from './session-list.js';

/** Why a term began: two fields of `leadershipGained`. */
export type Takeover = Pick<JobEvents['leadershipGained'], 'because' | 'after'>;

interface EndOfLease {
  /** By the clock of the store. */
  readonly at: number;
  /** The replica that ended its session itself, with the lock in its hands. Undefined: the session ended by itself. */
  readonly crashedReplica: string | undefined;
}

/** What a follower knows about the holder of a lock, and about the last one. */
export class KnownHolder {
  #holder: Holder | undefined;
  /** The last known holder, and how its term ended as far as this replica knows. */
  #last: { readonly holder: Holder; readonly end?: 'released' | 'expired' } | undefined;

  constructor(
    private readonly replicaId: string,
    private readonly list: SessionList,
  ) {}

  /** The other replica that holds the lock. Undefined: the lock is free, or the holder is not known. */
  get current(): Holder | undefined {
    return this.#holder;
  }

  /** The session of the holder. Undefined: no holder is known, or it names no session. */
  get session(): SessionId | undefined {
    return this.#holder === undefined ? undefined : sessionOf(this.#holder);
  }

  /** Whether a heartbeat will show the end of the holder's session. */
  get isListed(): boolean {
    return this.session !== undefined && this.list.has(this.session);
  }

  get hasEnded(): boolean {
    return this.session !== undefined && this.list.hasEnded(this.session);
  }

  /** Whether it is a program that is not of this library, such as SingletonJob for .NET: it sends no messages and has no session. */
  get isForeign(): boolean {
    return this.#holder !== undefined && replicaOf(this.#holder) === undefined;
  }

  /** How long the lock lives after a renewal of its holder. 0: the holder does not renew it as replicas do. */
  get renewedLifeMs(): number {
    return this.session === undefined ? 0 : lockLifeMs(lockExpiryOf(this.session));
  }

  /** The `lockExpiry` of the last known holder, which may be this replica. 0: not known. */
  get lastExpiryMs(): number {
    const session = this.#last === undefined ? undefined : sessionOf(this.#last.holder);
    return session === undefined ? 0 : lockExpiryOf(session);
  }

  /** How many living replicas are neither this one nor the last holder. */
  get otherReplicas(): number {
    const last = this.#last === undefined ? undefined : replicaOf(this.#last.holder);
    const isLastAlive = last !== undefined && last !== this.replicaId && this.list.isAlive(last);
    return Math.max(this.list.livingCount() - 1 - (isLastAlive ? 1 : 0), 0);
  }

  /** A holder has the lock. Returns whether it shows that another replica leads: the lock of an ended session is only old data. */
  follow(holder: Holder): boolean {
    this.#holder = holder;
    if (this.#last?.holder !== holder) this.#last = { holder };
    return replicaOf(holder) !== this.replicaId && !this.hasEnded;
  }

  /** The lock is free. */
  free(): void {
    this.#holder = undefined;
  }

  /** A holder has released the lock. */
  released(holder: Holder): void {
    if (this.#holder === holder) this.#holder = undefined;
    // the first news of how a term ended counts
    const knownEnd = this.#last?.holder === holder ? this.#last.end : undefined;
    this.#last = { holder, end: knownEnd ?? 'released' };
  }

  /** The lease of this replica has expired. It releases the lock later, when the store answers and no run is in flight. */
  expired(holder: Holder): void {
    if (this.#last?.holder === holder) this.#last = { holder, end: this.#last.end ?? 'expired' };
  }

  /** This replica has the lock. Returns why: `endedSession` is the session of the last leader, if its end was the reason. */
  takenBy(holder: Holder, { stateCreatedAt, storeTime }: Grant, endedSession: SessionId | undefined): Takeover {
    const last = this.#last;
    this.#holder = undefined;
    // its own term proves that no older lease exists
    this.#last = { holder };
    if (last === undefined) return { because: stateCreatedAt === storeTime ? 'first' : 'lock-free' };
    const after = holderName(last.holder);
    const hasEnded = endedSession !== undefined || last.end === 'expired';
    return { because: hasEnded ? 'session-ended' : (last.end ?? 'lock-free'), after };
  }

  /**
   * The end of the lease of the last leader, whose `session` has ended, as a new leader finds it at `grantedAt`. Undefined: it was this
   * replica, which knows its runs, or the session is not known.
   */
  endOfLease(session: SessionId | undefined, grantedAt: number): EndOfLease | undefined {
    const replica = session === undefined ? undefined : replicaOf(session);
    if (session === undefined || replica === undefined || replica === this.replicaId) return undefined;
    const heartbeatAt = this.list.lastHeartbeatOf(session);
    if (heartbeatAt === undefined) return undefined;
    const lifeMs = lockExpiryOf(session);
    // a process that crashes ends its session before its time
    return heartbeatAt + lifeMs > grantedAt
      ? { at: grantedAt, crashedReplica: replica }
      : { at: heartbeatAt + lifeMs - safetyMarginMs(lifeMs), crashedReplica: undefined };
  }
}
