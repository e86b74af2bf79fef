import { asStoreError, StoreError, unreadable } from '../base/errors/store.error.js';
import { showDuration } from '../base/text/duration.js';
import { type Candidate } from '../leadership/candidate.js';
import { type Election } from '../leadership/election.js';
import { trustedMs } from '../leadership/lease.js';
import { labelOf } from '../leadership/record.js';
import { type Replica } from '../leadership/replica.js';
import { type TermHandle } from '../leadership/term.js';
import { type ResolvedOptions } from '../options/resolve-options.js';
import { Condition } from './condition.js';
import { LockHandle } from './lock-handle.js';
import { givenKey } from './lock.errors.js';

/** Keys of locks may be many, and are not used again. */
const FORGET_MS = 24 * 3_600_000;
/** How long to wait for an answer of the store. The first request may have to connect. */
const ANSWER_MS = 2_000;
/** The same after a long wait: the lock may be released at its end, and the own take may be under way. */
const LATE_ANSWER_MS = 500;
/**
 * After a release other replicas try first. Otherwise they would never get a lock that callers of this process want all
 * the time.
 */
const SHARE_MS = 10;

/** What the locks of a process have in common. */
export interface LockParts {
  readonly options: ResolvedOptions;
  readonly replica: Replica;
}

/**
 * One lock in this process, whose callers get it in order. It is a record that is held under the lease of the replica.
 * Its election is in the table of the replica while a caller waits or has the lock, and until the release is certain.
 */
export class Lock implements Candidate {
  readonly isBalanced = false;
  readonly forgetAfterMs = FORGET_MS;
  readonly ttlMs = this.parts.options.lockExpiryMs;
  readonly #reconciled = new Condition(this.parts.replica.clock);
  readonly #election: Election;
  /** Callers that wait, each with its handle as soon as it has the lock. */
  readonly #callers = new Set<{ handle?: LockHandle }>();
  /** The term under which this replica holds the lock, or held it last. */
  #term: TermHandle | undefined;
  /** The handle of that term, until its caller has released it: also after the lock was lost. */
  owner: LockHandle | undefined;

  constructor(
    readonly name: string,
    private readonly parts: LockParts,
  ) {
    // last: the table of the replica gets it whole
    this.#election = parts.replica.electionFor(this);
  }

  /**
   * Null: another holder has the lock after `waitMs`.
   *
   * @throws StoreError if no replica may take it then, or if it is not known who has it, after 2 s at least
   * @throws the reason of a signal
   */
  async acquire(waitMs: number, stops: readonly AbortSignal[]): Promise<LockHandle | null> {
    const election = this.#election;
    const caller: { handle?: LockHandle } = {};
    const hasLock = () => caller.handle !== undefined;
    this.#callers.add(caller);
    // a caller that cannot wait must not learn what was true before
    const since = election.term === undefined ? election.refresh() : 0;
    election.compete();
    let refusal: StoreError | null | undefined;
    const isDecided = () => hasLock() || (refusal = this.#refusal(since)) !== undefined;
    try {
      if (!(await this.#reconciled.until(hasLock, waitMs, ...stops)))
        await this.#reconciled.until(isDecided, Math.max(ANSWER_MS - waitMs, LATE_ANSWER_MS), ...stops);
      // it may have been granted since the last pass: no other part would release it
      if (stops.some(({ aborted }) => aborted)) void caller.handle?.release();
      for (const stop of stops) stop.throwIfAborted();
      if (caller.handle !== undefined || refusal === null) return caller.handle ?? null;
      throw refusal ?? this.#silence();
    } finally {
      this.#callers.delete(caller);
      // it competes only while a caller waits
      election.compete(this.#callers.size > 0);
    }
  }

  /** A holder that has lost the lock may use the rest of the TTL of its lease to stop. */
  get isIdle(): boolean {
    const term = this.#term;
    if (this.owner === undefined || term?.end !== 'expired') return true;
    return this.parts.replica.clock.now() >= term.deadline.now + this.ttlMs - trustedMs(this.ttlMs);
  }

  lead(term: TermHandle): void {
    const [caller = {}] = this.#callers;
    this.#term = term;
    this.owner = caller.handle = new LockHandle(term, () => this.#release(term));
  }

  reconciled(): void {
    this.#reconciled.notify();
  }

  /** Resolves to whether the store shows within 2 s that this term does not hold the lock any more. */
  #release(term: TermHandle): Promise<boolean> {
    const election = this.#election;
    if (this.#term === term) this.owner = undefined;
    if (election.term === term)
      election.stepDown('stepped-down', this.parts.replica.context.storeView.replicas > 1 ? SHARE_MS : 0);
    election.enqueue();
    return this.#reconciled.until(() => this.#isReleased(term), ANSWER_MS);
  }

  #isReleased({ holder, end }: TermHandle): boolean {
    const { observed, isIdle } = this.#election;
    return end !== undefined && (observed.last.value?.holder !== holder || (observed.fresh !== undefined && isIdle));
  }

  /** Null: another holder has the lock. An error: nobody may take it. Undefined: that is not known yet. */
  #refusal(since: number): StoreError | null | undefined {
    const { context, clock } = this.parts.replica;
    const { term, leader, observed } = this.#election;
    const record = observed.sequence > since ? observed.fresh : undefined;
    if (term !== undefined || !this.isIdle) return null;
    // without an answer for so long, the holder may be gone
    if (record !== undefined && leader !== undefined && context.leases.get(this.ttlMs)?.isValid(clock)) return null;
    if (record?.isUnreadable) return this.#unknown(unreadable(this.name, context.storeName));
    const graceMs = observed.graceEndsAt(this.ttlMs) - clock.now();
    if (record === undefined || leader !== undefined || graceMs <= 0) return undefined;
    const why = `${context.storeName} was restarted or lost its data, and an earlier holder may rely on it for ${showDuration(graceMs)}`;
    return this.#unknown(new StoreError('STORE_UNREACHABLE', why));
  }

  #silence(): StoreError {
    const { replica } = this.parts;
    const cause = asStoreError(this.#election.writer.failure ?? replica.failure ?? new Error('no answer yet'));
    return this.#unknown(cause, `${replica.context.storeName} did not answer in time (${cause.message})`);
  }

  #unknown(cause: StoreError, why = cause.message): StoreError {
    const lock = givenKey(labelOf(this.name));
    return new StoreError(cause.code, `it is not known who holds the lock '${lock}': ${why}`, { cause });
  }
}
