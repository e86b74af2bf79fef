import { type Reason } from '../base/events/events.js';
import { instant, type Instant } from '../base/time/clock.js';
import { type Election } from './election.js';
import { isBefore, type Lease } from './lease.js';
import { type Order, Orders, RELEASING } from './orders.js';
import { type JobRecord, type LeaderFields, type ObservedRecord, contains } from './record.js';

/** A term writes what can wait so often, all terms of a replica in one request. */
const SAVE_MS = 10_000;

/** How a term ended: released, taken by another holder, or not confirmed in time. */
export type TermEnd = 'released' | 'preempted' | 'expired';

interface Save {
  readonly settle: (isSaved: boolean) => void;
  /** The fields before a claim. */
  readonly undo: LeaderFields | undefined;
}

/**
 * A term, as its candidate sees it: a run starts only while `isValid()`, and `signal` aborts it. The rest is between
 * the term and its election.
 */
export type TermHandle = Readonly<
  Pick<
    Term,
    | ('name' | 'holder' | 'fencingToken' | 'predecessor' | 'fields' | 'set' | 'claim' | 'save')
    | ('isValid' | 'untilValid' | 'startedAt' | 'storeNow' | 'storeNowAtMost' | 'deadline' | 'signal' | 'end')
  >
>;

/**
 * One uninterrupted leadership of this replica, from the take on, which may fail. What the record should say is set
 * here, and the election writes it.
 *
 * The fields are made from top to bottom, after the parameters of the constructor (`useDefineForClassFields` is false),
 * and each may read those above it: `fields` needs `predecessor`, and `orders` needs `holder` and
 * `predecessor`. So their order is part of the code.
 */
export class Term {
  /** Name of the record. */
  readonly name = this.election.name;
  /** What the record names while this replica leads by it. No other term ever has the same one. */
  readonly holder = this.election.replica.leases.nextHolder(this.lease);
  /** Larger than that of every earlier term of the job. */
  readonly fencingToken = this.election.observed.nextFencingToken();
  /** What earlier leaders have left. */
  readonly predecessor = this.election.observed.predecessor();
  /** When the take was applied, by both clocks. Before {@link begin} it is when the take was decided. */
  startedAt = instant(this.election.replica.clock);
  /**
   * The leader's fields as the record should have them. A run that outlives the term still sets its own, and the next
   * write has them.
   */
  fields: LeaderFields = this.election.candidate.inherit?.(this.predecessor) ?? {};
  /**
   * When the oldest change of `own` was made that the record may lack, by the monotonic clock. Infinity: the record
   * lacks nothing. -Infinity: the record must be written again.
   */
  #unsavedAt = Infinity;
  /** What the last write carries, and when it left. When the record shows it, these saves are done. */
  #sent: { readonly own: LeaderFields; readonly saves: readonly Save[]; readonly at: number } | undefined;
  /** The command that is being answered, and those that are done. */
  readonly orders = new Orders(this.holder, this.predecessor.record?.command);
  /**
   * In a new incarnation, until the record has been written again: the deadline from before, and the record as seen
   * before.
   */
  reclaim: { readonly by: Instant; readonly before: ObservedRecord } | undefined;
  /** Why it is released, and since when, by the monotonic clock: no run starts any more. Undefined: it is not. */
  release:
    { readonly reason: Reason<'leadershipReleased'>; readonly standBackMs: number; readonly at: number } | undefined;
  /** How it ended. Undefined until then. */
  end: TermEnd | undefined;
  readonly #ending = new AbortController();
  /** Aborts when the term is over, for any reason. */
  readonly signal: AbortSignal = this.#ending.signal;
  /** Callers of {@link save}, until the record shows their fields. While there is one, a write is due at once. */
  #saves: readonly Save[] = [];
  /** Callers of {@link untilValid} that wait for the answer to the next sync, or for the end of the term. */
  #waiters: (() => void)[] = [];

  constructor(
    private readonly election: Election,
    readonly lease: Lease,
  ) {}

  // ---- What its candidate asks

  /** Until then no other replica can lead, unless the record is released or deleted. */
  get deadline(): Instant {
    return this.reclaim?.by ?? this.lease.deadline ?? this.startedAt;
  }

  /** The time of the store. */
  storeNow(): number {
    return this.election.replica.storeView.storeNow();
  }

  /**
   * The same at most. Later leaders count the delay of an interval from the end of a run by this, so that it is never
   * too short.
   */
  storeNowAtMost(): number {
    return this.election.replica.storeView.storeNowAtMost();
  }

  /**
   * Whether a run may start now: the deadline has not passed on either clock. Called again before each run. If not, a
   * sync leaves at once.
   */
  isValid(): boolean {
    const { replica } = this.election;
    if (this.end !== undefined) return false;
    if (isBefore(replica.clock, this.deadline)) return true;
    replica.heartbeatThread?.takeReports();
    if (isBefore(replica.clock, this.deadline)) return true;
    replica.syncNow();
    return false;
  }

  /** Resolves when {@link isValid}, or when the term is over. */
  async untilValid(): Promise<void> {
    while (this.end === undefined && !this.isValid()) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Fields that the record gets within 10 s, in one request with those of all terms. */
  set(fields: LeaderFields): void {
    this.fields = { ...this.fields, ...fields };
    if (this.#unsavedAt < Infinity) return;
    this.#unsavedAt = this.election.replica.clock.now();
    this.election.enqueue(this.saveAt);
  }

  /**
   * {@link save} before a run starts. Resolves to false, with the fields as before, if the record shows a pause first.
   */
  claim(fields: LeaderFields): Promise<boolean> {
    const { lastScheduledAt, run, versions } = this.fields;
    return this.save(fields, { lastScheduledAt, run, versions });
  }

  /**
   * Fields that the record gets at once. Resolves to true when the record has them, and to false when the term is over
   * before. `undo`: of a claim.
   */
  save(fields: LeaderFields, undo?: LeaderFields): Promise<boolean> {
    this.set(fields);
    if (this.end !== undefined) return Promise.resolve(false);
    return new Promise<boolean>((settle) => {
      this.#saves = [...this.#saves, { settle, undo }];
      this.election.enqueue();
    });
  }

  // ---- What its election tells it

  /** The take was applied. The record lacks what it left out. */
  begin(): void {
    this.startedAt = instant(this.election.replica.clock);
    this.set({});
  }

  /**
   * When what the record may lack is to be written, by the monotonic clock. What can wait is written at a time that all
   * terms share.
   */
  get saveAt(): number {
    return this.#saves.length > 0 ? -Infinity : (Math.floor(this.#unsavedAt / SAVE_MS) + 1) * SAVE_MS;
  }

  /** The fields leave now. */
  markSent(): void {
    this.#sent = { own: this.fields, saves: this.#saves, at: this.election.replica.clock.now() };
  }

  /** The record as it is. What changed while a write was under way is not in it yet. */
  onRecord(value: JobRecord): void {
    const all = { own: this.fields, saves: this.#saves, at: Infinity };
    const sent = [all, this.#sent].find((one) => one !== undefined && contains(value, one.own));
    if (sent === undefined) return;
    this.#unsavedAt = sent.at;
    this.#saves = this.#saves.filter((save) => !sent.saves.includes(save));
    for (const { settle } of sent.saves) settle(true);
  }

  /**
   * Another incarnation. The record is to be written again, also if it names this term: it may be older.
   */
  incarnationChanged(before: ObservedRecord): void {
    this.reclaim ??= { by: this.deadline, before };
    this.#unsavedAt = -Infinity;
  }

  /** Carries out the command whose answer the record shows. */
  carryOut(value: JobRecord = {}): void {
    const order = this.orders.onRecord(value);
    if (order?.fields !== undefined) this.fields = { ...this.fields, ...order.fields };
    order?.act?.();
  }

  /**
   * The answer to write. A leader that releases the job starts no run for a command. Where an earlier answer may
   * still arrive, that and this one are for the same revision, so the record shows which of them counts.
   */
  get answer(): Order | undefined {
    const { pending } = this.orders;
    if (this.release === undefined || pending?.act === undefined) return pending;
    return { id: pending.id, until: pending.until, outcome: RELEASING };
  }

  /**
   * The record shows a pause, or the replica closes, or the term is over, or is released without an answer. What was
   * claimed is not run.
   */
  refuseClaims(): void {
    for (const { undo, settle } of this.#saves) {
      if (undo === undefined) continue;
      this.set(undo);
      settle(false);
    }
    this.#saves = this.#saves.filter(({ undo }) => undo === undefined);
  }

  /** A sync was answered. */
  syncAnswered(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }

  /** The term is over. */
  finish(how: TermEnd): void {
    if (this.end !== undefined) return;
    this.refuseClaims();
    this.end = how;
    this.orders.pending?.cancel?.();
    for (const { settle } of this.#saves) settle(false);
    this.#saves = [];
    this.syncAnswered();
    this.#ending.abort();
  }
}
