import { asLockStoreError, LockStoreError, unreadable } from '../base/errors/lock-store.error.js';
import { givenKey } from '../base/errors/lock.errors.js';
import { showDuration } from '../base/events/show-duration.js';
import { type Clock } from '../base/time/clock.js';
import { Condition } from '../base/time/condition.js';
import { type Candidate, type Election } from '../leadership/election.js';
import { trustedMs } from '../leadership/lease.js';
import { labelOf } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type Term } from '../leadership/term.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { LockHandle } from './lock-handle.js';

/** How long to wait for an answer of the store. The first request may have to connect. */
const ANSWER_MS = 2_000;
/** After a release other replicas try first. Otherwise they would never get a lock that callers of this process want all the time. */
const SHARE_MS = 10;

/** What the locks of a process have in common. */
export interface LockParts {
  readonly options: ResolvedOptions;
  readonly replica: Replica;
  readonly clock: Clock;
  readonly storeName: string;
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
  /** Callers that wait, each with its handle as soon as it has the lock. */
  readonly #callers = new Set<{ handle?: LockHandle }>();
  /** The last one. */
  #term: Term | undefined;
  /** Who has not released that term yet, also if the lock is lost. */
  owner: LockHandle | undefined;

  constructor(
    readonly name: string,
    private readonly parts: LockParts,
  ) {
    this.lifeMs = parts.options.lockExpiryMs;
    this.#looked = new Condition(parts.clock);
    this.#election = parts.replica.electionFor(this);
  }

  /**
   * Null: another holder has the lock after `waitMs`, or a signal has aborted.
   *
   * @throws LockStoreError if nobody may take it then, or if it is not known who has it, after 2 s at least
   */
  async acquire(waitMs: number, stops: readonly AbortSignal[]): Promise<LockHandle | null> {
    const { clock } = this.parts;
    const startMs = clock.now();
    const election = this.#election;
    const caller: { handle?: LockHandle } = {};
    this.#callers.add(caller);
    if (election.term === undefined) election.lookAfresh();
    election.compete();
    try {
      while (caller.handle === undefined && !stops.some(({ aborted }) => aborted)) {
        const waitedMs = clock.now() - startMs;
        if (waitedMs >= waitMs && this.#isTaken(waitedMs >= ANSWER_MS)) break;
        await this.#looked.wait((waitedMs < waitMs ? waitMs : ANSWER_MS) - waitedMs, ...stops);
      }
      return caller.handle ?? null;
    } finally {
      this.#callers.delete(caller);
      // it competes only while a caller waits
      election.isWanted = this.#callers.size > 0;
      election.touch();
    }
  }

  /** A holder that has lost the lock may use the rest of the life of its lease to stop. */
  get isIdle(): boolean {
    const term = this.#term;
    if (this.owner === undefined || term?.end !== 'expired') return true;
    return this.parts.clock.now() >= term.deadline.now + this.lifeMs - trustedMs(this.lifeMs);
  }

  lead(term: Term): void {
    const [caller = {}] = this.#callers;
    this.#term = term;
    this.owner = caller.handle = new LockHandle(term, () => this.#release(term));
  }

  looked(): void {
    this.#looked.notify();
  }

  /** Resolves to whether the store shows within 2 s that this term does not hold the lock any more. */
  async #release(term: Term): Promise<boolean> {
    const { clock, replica } = this.parts;
    const endMs = clock.now() + ANSWER_MS;
    if (this.#term === term) this.owner = undefined;
    if (this.#election.term === term) this.#election.stepDown('stepped-down', replica.view.replicas > 1 ? SHARE_MS : 0);
    this.#election.touch();
    while (!this.#isReleased(term) && clock.now() < endMs) await this.#looked.wait(endMs - clock.now());
    return this.#isReleased(term);
  }

  #isReleased({ holder, end }: Term): boolean {
    const { known, record, isIdle } = this.#election;
    return end !== undefined && (known.value?.holder !== holder || (record !== undefined && isIdle));
  }

  /**
   * Whether another holder has the lock. False: that is not known yet.
   *
   * @throws LockStoreError if nobody may take the lock, or if it is not known and `mustBeKnown`
   */
  #isTaken(mustBeKnown: boolean): boolean {
    const { clock, replica } = this.parts;
    const { term, record, isHeld } = this.#election;
    if (term !== undefined || !this.isIdle) return true;
    // without an answer for so long, the holder may be gone
    if (record !== undefined && isHeld && replica.leases.get(this.lifeMs)?.isValid(clock)) return true;
    const cause = this.#obstacle() ?? (mustBeKnown ? this.#silence() : undefined);
    if (cause === undefined) return false;
    const lock = givenKey(labelOf(this.name));
    throw new LockStoreError(cause.code, `it is not known who holds the lock '${lock}': ${cause.message}`, { cause });
  }

  /** Why the lock cannot be taken. */
  #obstacle(): LockStoreError | undefined {
    const { clock, storeName } = this.parts;
    const { record, isHeld } = this.#election;
    if (record?.isUnreadable) return unreadable(this.name, storeName);
    const graceMs = this.#election.graceEnd() - clock.now();
    if (record === undefined || isHeld || graceMs <= 0) return undefined;
    const rest = `an earlier holder may rely on it for ${showDuration(graceMs)}`;
    return new LockStoreError('STORE_UNREACHABLE', `${storeName} was restarted or lost its data, and ${rest}`);
  }

  #silence(): LockStoreError {
    const { replica, storeName } = this.parts;
    const cause = asLockStoreError(this.#election.writer.failure ?? replica.failure ?? new Error('no answer yet'));
    return new LockStoreError(cause.code, `${storeName} did not answer in time (${cause.message})`, { cause });
  }
}
