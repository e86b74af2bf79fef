import { type Clock } from '../base/time/clock.js';
import { type Holder, leaseOf, ttlOf, replicaOf } from '../store/lease-id.js';
import * as decide from './decide.js';
import { ABSENT, type JobRecord, type LeaderFields, type ObservedRecord, type Pause } from './record.js';
import { type StoreView } from './store-view.js';

/** What a new leader finds. */
export interface Predecessor {
  /** Why the record could be taken. */
  readonly reason: 'first' | 'released' | 'lease-ended' | 'free';
  /** The last leader that this replica knows of. */
  readonly leader: string | undefined;
  /** The record before the take. Undefined: there was none. */
  readonly record: JobRecord | undefined;
  /** What earlier leaders left in it, and what this replica remembers of its own last term. */
  readonly fields: LeaderFields;
  /**
   * The last leader, if it did not release the record: its lease ended, or the record is gone. Undefined: it did, or
   * this replica knows what it did.
   */
  readonly lostLeader: string | undefined;
  /** Occurrences up to then may have been claimed in data that are gone. 0: no claim is lost. */
  readonly claimsLostUntil: number;
  /** The time of the store when the record was taken. */
  readonly takenAt: number;
}

/** What this replica has seen of one record, also what the store may have lost since. Only answers change it. */
export class RecordView {
  /** The record as seen in this incarnation. Undefined: not yet, or a write may have changed it since. */
  fresh: ObservedRecord | undefined;
  /** The record as it was seen last, also in an earlier incarnation and before a write without an answer. */
  last = ABSENT;
  /** The sequence of the newest answer about the record, to a sync or to a write. An older answer says nothing. */
  sequence = 0;
  /** The revision with which the record was first seen in this incarnation. Undefined: not seen yet. */
  #firstRevision: number | undefined;
  /** What the last leader had written, also in an earlier incarnation. It stays true of the past. */
  #lastValue: JobRecord = {};
  /** The last holder that the record has named, this replica included. Undefined: it has named none. */
  #lastHolder: Holder | undefined;
  /** The last term of this replica that is over. A run that outlives the term still sets its fields. */
  #lastTerm: decide.TermFields | undefined;

  constructor(private readonly context: { readonly clock: Clock; readonly storeView: StoreView }) {}

  observe({ revision, value, isUnreadable }: ObservedRecord, sequence: number): void {
    // one that cannot be read says nothing
    if (isUnreadable !== true) this.#firstRevision ??= revision;
    this.last = { revision, value, isUnreadable, isUnchanged: revision === this.#firstRevision };
    this.fresh = this.last;
    this.sequence = sequence;
    if (value === undefined) return;
    if (value.fencingToken !== undefined) this.#lastValue = value;
    this.context.storeView.noteTime(value.fencingToken ?? 0);
    if (value.holder === undefined) return;
    this.#lastHolder = value.holder;
    this.context.storeView.noteTtl(ttlOf(leaseOf(value.holder)));
  }

  /** A term of this replica is over. */
  termEnded(term: decide.TermFields): void {
    this.#lastTerm = term;
  }

  /** What earlier leaders have left, with what this replica remembers of its own last term. */
  leftBehind(value: JobRecord): LeaderFields {
    return decide.leftBehind(value, this.#lastTerm);
  }

  /** A write has the answer of this sequence, and may have changed the record or not. */
  invalidate(sequence: number): void {
    this.fresh = undefined;
    this.sequence = sequence;
  }

  /** Another incarnation: nothing that was seen counts. */
  incarnationChanged(): void {
    this.fresh = undefined;
    this.#firstRevision = undefined;
  }

  /** The pause in it that is not over. */
  get pause(): Pause | undefined {
    const { value } = this.last;
    // most records have none: then no clock is read
    return value?.pause && decide.pauseOf(value, this.context.storeView.storeNow());
  }

  /** It still shows a pause that is over. */
  get hasEndedPause(): boolean {
    return this.last.value?.pause !== undefined && this.pause === undefined;
  }

  /** Where this replica has no term of it: an orphan names one. */
  get ownership(): ReturnType<typeof decide.ownership> {
    return decide.ownership(this.last, this.context.storeView);
  }

  /** The living replica that leads by it, where this one has no term of it. */
  get leader(): string | undefined {
    const { clock, storeView } = this.context;
    const { holder } = this.last.value ?? {};
    if (holder === undefined || this.ownership !== 'held' || clock.now() >= storeView.endsAt(leaseOf(holder)))
      return undefined;
    return replicaOf(holder);
  }

  /** Until then, by the monotonic clock, no replica may take it. -Infinity: it may be taken. */
  graceEndsAt(ttlMs: number): number {
    const { clock, storeView } = this.context;
    return decide.graceEndsAt(this.last, storeView, { now: clock.now(), storeNow: storeView.storeNow(), ttlMs });
  }

  /** What a take now finds. */
  predecessor(): Predecessor {
    const { storeView } = this.context;
    const { value } = this.last;
    const takenAt = storeView.storeNow();
    const reason = reasonOf(value, storeView);
    const leader = this.#lastHolder === undefined ? undefined : replicaOf(this.#lastHolder);
    // a take whose answer was lost is no term of which this replica knows what it did
    const isKnown = (this.#lastTerm?.fencingToken ?? -1) >= (this.#lastValue.fencingToken ?? 0);
    const isOwn = leader === storeView.replicaId && isKnown;
    const lostLeader = this.#lastValue.holder !== undefined && !isOwn ? leader : undefined;
    const fields = this.leftBehind(this.#lastValue);
    const claimsLostUntil = decide.claimsLostUntil(this.last, storeView, takenAt);
    return { reason, leader, record: value, fields, lostLeader, claimsLostUntil, takenAt };
  }

  /**
   * Larger than every token that is known. At least the time of the store, and later than each that this replica has
   * met, so that it grows also after a loss of data.
   */
  nextFencingToken(): number {
    const { storeView } = this.context;
    return Math.max((this.#lastValue.fencingToken ?? 0) + 1, storeView.latestTime + 1, storeView.storeNow());
  }
}

function reasonOf(value: JobRecord | undefined, { incarnation }: StoreView): Predecessor['reason'] {
  if (value?.fencingToken !== undefined) return value.holder === undefined ? 'released' : 'lease-ended';
  return incarnation.isFirst ? 'first' : 'free';
}
