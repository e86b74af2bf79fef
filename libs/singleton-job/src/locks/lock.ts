import { asLockStoreError, LockStoreError } from '../base/errors/lock-store.error.js';
import { givenKey } from '../base/errors/lock.errors.js';
import { showDuration } from '../base/events/show-duration.js';
import { type Clock } from '../base/time/clock.js';
import { Condition } from '../base/time/condition.js';
import { isOfNow } from '../leadership/decide.js';
import { type Candidate, type Election } from '../leadership/election.js';
import { trustedMs } from '../leadership/lease.js';
import { labelOf, lockRecord, type SeenRecord } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type Term } from '../leadership/term.js';

/** How long to wait for an answer of the store. The first request may have to connect. */
const ANSWER_MS = 2_000;
/** After a release other replicas try first. Otherwise they would never get a lock that callers of this process want all the time. */
const SHARE_MS = 10;
const MOST_LEFT = 1_000;

/** What the locks of a process have in common. */
export interface LockParts {
  readonly replica: Replica;
  readonly clock: Clock;
  readonly storeName: string;
  /** `lockExpiry` of the module. */
  readonly lifeMs: number;
  /** The last records of some locks that were released here, by name: the next request takes such a lock at once. */
  readonly left: Map<string, SeenRecord>;
}

/**
 * One lock in this process, whose callers get it in order. It is a record that is held under the lease of the replica. Its election is in the
 * table of the replica while a caller waits or has the lock, and until the release is certain.
 */
export class Lock implements Candidate {
  readonly kind = 'lock';
  readonly inherit = (): object => ({});
  readonly drain = (): void => undefined;
  readonly trigger = () => ({ outcome: 'releasing' });
  readonly lifeMs: number;
  readonly #election: Election;
  readonly #looked: Condition;
  /** Callers, each with its term as soon as it has the lock. */
  readonly #waiters = new Set<{ term?: Term }>();
  /** The term that was not released yet. */
  #owned: Term | undefined;

  private constructor(
    readonly name: string,
    private readonly parts: LockParts,
  ) {
    const { replica, clock, lifeMs, left } = parts;
    this.lifeMs = lifeMs;
    this.#looked = new Condition(clock);
    this.#election = replica.electionFor(this);
    const record = left.get(name);
    if (!replica.view.isEmpty && isOfNow(record?.value, replica.view)) this.#election.record = record;
  }

  /** The lock of this key, such as `lock/nightly-import`, which all its callers share. */
  static of(key: string, parts: LockParts): Lock {
    const name = lockRecord(givenKey(key));
    const known = parts.replica.find(name)?.candidate;
    return known instanceof Lock ? known : new Lock(name, parts);
  }

  /**
   * Null: another holder has the lock after `waitMs`, or `stop` aborted.
   *
   * @throws LockStoreError if nobody may take it then, or if it is not known who has it, after 2 s at least
   */
  async acquire(waitMs: number, stop: AbortSignal): Promise<Term | null> {
    const { clock } = this.parts;
    const startMs = clock.now();
    const election = this.#election;
    const isFree = !election.isHeld && startMs >= election.graceEnd();
    // a free lock is tried at once, and all else is read first
    if (this.#waiters.size === 0 && election.term === undefined && !isFree) election.record = undefined;
    const waiter: { term?: Term } = {};
    this.#waiters.add(waiter);
    election.compete();
    try {
      while (waiter.term === undefined && !stop.aborted) {
        const waitedMs = clock.now() - startMs;
        if (waitedMs >= waitMs && this.#isTaken(waitedMs >= ANSWER_MS)) return null;
        await this.#looked.wait(stop, (waitedMs < waitMs ? waitMs : ANSWER_MS) - waitedMs);
      }
      return waiter.term ?? null;
    } finally {
      this.#waiters.delete(waiter);
      // it competes only while a caller waits
      election.isWanted = this.#waiters.size > 0;
      election.touch();
    }
  }

  /** Resolves to whether the store shows within 2 s that this term does not hold the lock any more. */
  async release(term: Term): Promise<boolean> {
    const { clock, replica, left } = this.parts;
    const endMs = clock.now() + ANSWER_MS;
    if (this.#owned === term) this.#owned = undefined;
    if (this.#election.term === term) this.#election.stepDown('stepped-down', replica.view.replicas > 1 ? SHARE_MS : 0);
    this.#election.touch();
    const never = new AbortController().signal;
    while (!this.#isReleased(term) && clock.now() < endMs) await this.#looked.wait(never, endMs - clock.now());
    if (left.size >= MOST_LEFT) left.clear();
    left.set(this.name, this.#election.known);
    return this.#isReleased(term);
  }

  /** A holder that has lost the lock may use the rest of the life of its lease to stop. */
  get isIdle(): boolean {
    if (this.#owned?.end !== 'expired') return true;
    return this.parts.clock.now() >= this.#owned.deadline.now + this.lifeMs - trustedMs(this.lifeMs);
  }

  lead(term: Term): void {
    const [first = {}] = this.#waiters;
    this.#owned = first.term = term;
  }

  looked(): void {
    this.#looked.notify();
  }

  #isReleased({ holder, end }: Term): boolean {
    const { record, isIdle } = this.#election;
    return end !== undefined && record !== undefined && (record.value?.holder !== holder || isIdle);
  }

  /**
   * Whether another holder has the lock. False: that is not known yet.
   *
   * @throws LockStoreError if nobody may take the lock, or if it is not known and `mustBeKnown`
   */
  #isTaken(mustBeKnown: boolean): boolean {
    const { clock, replica, storeName } = this.parts;
    const { term, record, isHeld } = this.#election;
    if (term !== undefined || !this.isIdle) return true;
    // without an answer for so long, the holder may be gone
    if (record !== undefined && isHeld && replica.leases.get(this.lifeMs)?.isValid(clock)) return true;
    const graceMs = this.#election.graceEnd() - clock.now();
    const isUnknown = `it is not known who holds the lock '${givenKey(labelOf(this.name))}'`;
    if (record?.isUnreadable) {
      const why = `another program wrote its record '${this.name}' in ${storeName}: delete it`;
      throw new LockStoreError('STORE_MISCONFIGURED', `${isUnknown}: ${why}`);
    }
    if (record !== undefined && !isHeld && graceMs > 0) {
      const why = `${storeName} was restarted or lost its data, and an earlier holder may rely on it for ${showDuration(graceMs)}`;
      throw new LockStoreError('STORE_UNREACHABLE', `${isUnknown}: ${why}`);
    }
    if (!mustBeKnown) return false;
    const cause = asLockStoreError(this.#election.failure ?? replica.failure ?? new Error('no answer yet'));
    throw new LockStoreError(cause.code, `${isUnknown}: ${storeName} did not answer in time (${cause.message})`, {
      cause,
    });
  }
}
