import { type Reason } from '../base/events/events.js';
import { instant, type Instant } from '../base/time/clock.js';
import { type Holder } from '../store/lease-id.js';
import { type LeadershipContext } from './context.js';
import { type TermFacts } from './decide.js';
import { isBefore, type Lease } from './lease.js';
import { type Predecessor } from './record-view.js';
import { type JobRecord, type LeaderFields, NONE, type ObservedRecord, contains } from './record.js';

/** A term writes what can wait so often, all terms of a replica in one request. */
const SAVE_MS = 10_000;

/** How a term ended: released, taken by another holder, or not confirmed in time. */
export type TermEnd = 'released' | 'preempted' | 'expired';

/** What a take decides. */
interface TermParts {
  /** Name of the record. */
  readonly name: string;
  /** What the record names while this replica leads by it. No other term ever has the same one. */
  readonly holder: Holder;
  /** Larger than that of every earlier term of the job. */
  readonly fencingToken: number;
  /** What earlier leaders have left. */
  readonly predecessor: Predecessor;
  readonly fields: LeaderFields;
  readonly lease: Lease;
}

interface Release {
  readonly reason: Reason<'leadershipReleased'>;
  readonly standBackMs: number;
  /** Since when, by the monotonic clock, no run starts any more. */
  readonly at: number;
}

interface Save {
  readonly settle: (isSaved: boolean) => void;
  /** Of a claim: they become fields of the term when the record shows them. */
  readonly claimed?: LeaderFields | undefined;
}

/**
 * A term, as its candidate sees it: a run starts only while `isValid()`, and is aborted when the term is over. The rest
 * is between the term and its election.
 */
export type TermHandle = Readonly<
  Pick<
    Term,
    | ('name' | 'holder' | 'fencingToken' | 'predecessor' | 'fields' | 'set' | 'claim' | 'save')
    | ('isValid' | 'untilValid' | 'startedAt' | 'storeNow' | 'storeNowAtMost' | 'deadline')
    | ('whenOver' | 'release' | 'end')
  >
>;

/**
 * One uninterrupted leadership of this replica, from the take on, which may fail. What the record should say is set
 * here, and the election writes it.
 */
export class Term implements TermFacts {
  readonly name: string;
  readonly holder: Holder;
  readonly fencingToken: number;
  readonly predecessor: Predecessor;
  readonly lease: Lease;
  /**
   * The leader's fields as the record should have them. A run that outlives the term still sets its own, and the next
   * write has them.
   */
  fields: LeaderFields;
  /** When the take was applied, by both clocks. Before {@link begin} it is when the take was decided. */
  startedAt: Instant;
  /**
   * When the oldest change of `fields` was made that the record may lack, by the monotonic clock. Infinity: the record
   * lacks nothing. -Infinity: the record must be written again.
   */
  #unsavedAt = Infinity;
  /** What the last write carries, and when it left. When the record shows it, these saves are done. */
  #sent: { readonly fields: LeaderFields; readonly saves: readonly Save[]; readonly at: number } | undefined;
  /** See {@link TermFacts}. */
  reclaim: { readonly by: Instant; readonly before: ObservedRecord } | undefined;
  /** Why it is released. Undefined: it is not. */
  release: Release | undefined;
  /** How it ended. Undefined until then. */
  end: TermEnd | undefined;
  /** What {@link whenOver} has got. */
  #endings: readonly (() => void)[] = NONE;
  /**
   * Callers of {@link claim} and {@link save}, until the record shows their fields. While there is one, a write is due
   * at once.
   */
  #saves: readonly Save[] = NONE;
  /** Callers of {@link untilValid} that wait for the answer to the next sync, or for the end of the term. */
  #waiters: (() => void)[] | undefined;

  constructor(
    { name, holder, fencingToken, predecessor, fields, lease }: TermParts,
    private readonly context: Pick<LeadershipContext, 'clock' | 'storeView' | 'heartbeatThread' | 'syncNow'>,
    /** It reconciles the term, now or at a time by the monotonic clock. */
    private readonly election: { enqueue(at?: number): void },
  ) {
    this.name = name;
    this.holder = holder;
    this.fencingToken = fencingToken;
    this.predecessor = predecessor;
    this.fields = fields;
    this.lease = lease;
    this.startedAt = instant(context.clock);
  }

  // ---- What its candidate asks

  /** Until then no other replica can lead, unless the record is released or deleted. */
  get deadline(): Instant {
    return this.reclaim?.by ?? this.lease.deadline ?? this.startedAt;
  }

  /** The time of the store. */
  storeNow(): number {
    return this.context.storeView.storeNow();
  }

  /**
   * The same at most. Later leaders count the delay of an interval from the end of a run by this, so that it is never
   * too short.
   */
  storeNowAtMost(): number {
    return this.context.storeView.storeNowAtMost();
  }

  /**
   * Whether a run may start now: the deadline has not passed on either clock. Called again before each run. If not, a
   * sync leaves at once.
   */
  isValid(): boolean {
    const { clock, heartbeatThread } = this.context;
    if (this.end !== undefined) return false;
    if (isBefore(clock, this.deadline)) return true;
    heartbeatThread?.takeReports();
    if (isBefore(clock, this.deadline)) return true;
    this.context.syncNow();
    return false;
  }

  /** Resolves when {@link isValid}, or when the term is over. */
  async untilValid(): Promise<void> {
    while (this.end === undefined && !this.isValid())
      await new Promise<void>((resolve) => (this.#waiters ??= []).push(resolve));
  }

  /** Calls `act` when the term is over, for any reason: now, if it is. */
  whenOver(act: () => void): void {
    if (this.end === undefined) this.#endings = this.#endings.concat(act);
    else act();
  }

  /** Fields that the record gets within 10 s, in one request with those of all terms. */
  set(fields: LeaderFields): void {
    this.fields = { ...this.fields, ...fields };
    if (this.#unsavedAt < Infinity) return;
    this.#unsavedAt = this.context.clock.now();
    this.election.enqueue(this.saveAt);
  }

  /**
   * Fields that the record gets at once, before a run starts. Resolves to true when the record and the term have them,
   * and to false if they are refused before: see {@link refuseClaims}.
   */
  claim(fields: LeaderFields): Promise<boolean> {
    return this.#save(fields);
  }

  /**
   * Fields that the record gets at once. Resolves to true when the record has them, and to false when the term is over
   * before.
   */
  save(fields: LeaderFields): Promise<boolean> {
    this.set(fields);
    return this.#save();
  }

  #save(claimed?: LeaderFields): Promise<boolean> {
    if (this.end !== undefined) return Promise.resolve(false);
    return new Promise<boolean>((settle) => {
      this.#saves = [...this.#saves, { settle, claimed }];
      this.election.enqueue();
    });
  }

  // ---- What its election passes on to it

  /** The take was applied. The record lacks what it left out. */
  begin(): void {
    this.startedAt = instant(this.context.clock);
    this.set({});
  }

  /**
   * When what the record may lack is to be written, by the monotonic clock. What can wait is written at a time that all
   * terms share.
   */
  get saveAt(): number {
    return this.#saves.length > 0 ? -Infinity : (Math.floor(this.#unsavedAt / SAVE_MS) + 1) * SAVE_MS;
  }

  /** What is claimed, and neither shown by the record nor refused. */
  get claimed(): LeaderFields {
    return Object.assign({}, ...this.#saves.map(({ claimed }) => claimed)) as LeaderFields;
  }

  /** The fields leave now. */
  markSent(): void {
    this.#sent = this.#asOf(this.context.clock.now());
  }

  #asOf(at: number) {
    return { fields: { ...this.fields, ...this.claimed }, saves: this.#saves, at };
  }

  /** The record as it is. What changed while a write was under way is not in it yet. */
  onRecord(value: JobRecord): void {
    const sent = [this.#asOf(Infinity), this.#sent].find((one) => one !== undefined && contains(value, one.fields));
    if (sent === undefined) return;
    this.#unsavedAt = sent.at;
    if (sent.saves.length === 0) return;
    const saved = this.#saves.filter((save) => sent.saves.includes(save));
    this.#saves = this.#saves.filter((save) => !saved.includes(save));
    for (const { settle, claimed } of saved) {
      this.fields = { ...this.fields, ...claimed };
      settle(true);
    }
  }

  /**
   * Another incarnation. The record is to be written again, also if it names this term: it may be older.
   */
  incarnationChanged(before: ObservedRecord): void {
    this.reclaim ??= { by: this.deadline, before };
    this.#unsavedAt = -Infinity;
  }

  /** The record names the term in this incarnation. */
  reclaimed(): void {
    this.reclaim = undefined;
  }

  /** No run starts any more. */
  beginRelease(reason: Release['reason'], standBackMs: number): void {
    this.release = { reason, standBackMs, at: this.context.clock.now() };
  }

  /**
   * The record shows a pause, or the replica closes, or the term is over, or is released without an answer. What was
   * claimed is not run, and what was sent of it is written over.
   */
  refuseClaims(): void {
    const refused = this.#saves.filter(({ claimed }) => claimed !== undefined);
    if (refused.length === 0) return;
    this.#saves = this.#saves.filter(({ claimed }) => claimed === undefined);
    this.set({});
    for (const { settle } of refused) settle(false);
  }

  /** A sync was answered. */
  syncAnswered(): void {
    for (const resolve of this.#waiters?.splice(0) ?? NONE) resolve();
  }

  /** The term is over. */
  finish(how: TermEnd): void {
    if (this.end !== undefined) return;
    this.refuseClaims();
    this.end = how;
    for (const { settle } of this.#saves) settle(false);
    this.#saves = NONE;
    this.syncAnswered();
    for (const act of this.#endings) act();
  }
}
