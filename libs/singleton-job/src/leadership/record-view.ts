import { leaseOf, lifeOf, replicaOf } from '../store/lease-id.js';
import * as decide from './decide.js';
import { ABSENT, type JobRecord, type OwnFields, type SeenRecord } from './record.js';
import { type Replica } from './replica.js';
import { type Term } from './term.js';
import { type View } from './view.js';

/** What a new leader finds. */
export interface Backlog {
  /** Why the record could be taken. */
  readonly because: 'first' | 'released' | 'lease-ended' | 'free';
  /** The last leader that this replica knows of. */
  readonly after: string | undefined;
  /** The record before the take. Undefined: there was none. */
  readonly record: JobRecord | undefined;
  /** What earlier leaders left in it, and what this replica remembers of its own last term. */
  readonly left: OwnFields;
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
  record: SeenRecord | undefined;
  /** The record as it was seen last, also in an earlier incarnation and before a write without an answer. */
  last = ABSENT;
  /** The sequence of the newest answer about the record, to a sync or to a write. An older answer says nothing. */
  sequence = 0;
  /** The revision with which the record was first seen in this incarnation. Undefined: not seen yet. */
  #metOn: number | undefined;
  /** What the last leader had written, also in an earlier incarnation. It stays true of the past. */
  #lastValue: JobRecord = {};
  /** The last replica that the record has named, this one included. Undefined: it has named none. */
  #lastLeader: string | undefined;
  /** The last term of this replica that is over. A run that outlives the term still sets its fields. */
  lastTerm: Term | undefined;

  constructor(private readonly replica: Replica) {}

  observe({ revision, value, isUnreadable }: SeenRecord, sequence: number): void {
    this.#metOn ??= revision;
    this.last = { revision, value, isUnreadable, isUnchanged: revision === this.#metOn };
    this.record = this.last;
    this.sequence = sequence;
    if (value === undefined) return;
    if (value.fencingToken !== undefined) this.#lastValue = value;
    this.replica.view.noteTime(value.fencingToken ?? 0);
    if (value.holder === undefined) return;
    this.#lastLeader = replicaOf(value.holder);
    this.replica.view.noteTtl(lifeOf(leaseOf(value.holder)));
  }

  /** A write has the answer of this sequence, and may have changed the record or not. */
  doubt(sequence: number): void {
    this.record = undefined;
    this.sequence = sequence;
  }

  /** Another incarnation: nothing that was seen counts. */
  incarnationChanged(): void {
    this.record = undefined;
    this.#metOn = undefined;
  }

  /** Where this replica has no term of it: a stray names one. */
  get ownership(): ReturnType<typeof decide.ownership> {
    return decide.ownership(this.last, this.replica.view);
  }

  /** The living replica that leads by it, where this one has no term of it. */
  get leader(): string | undefined {
    const { clock, view } = this.replica;
    const { holder } = this.last.value ?? {};
    if (holder === undefined || this.ownership !== 'held' || clock.now() >= view.endsAt(leaseOf(holder)))
      return undefined;
    return replicaOf(holder);
  }

  /** Until then, by the monotonic clock, no replica may take it. -Infinity: it may be taken. */
  graceEndsAt(lifeMs: number): number {
    const { clock, view } = this.replica;
    return decide.graceEndsAt(this.last, view, { now: clock.now(), storeNow: view.storeNow(), lifeMs });
  }

  /** What a take now finds. */
  backlog(): Backlog {
    const { view } = this.replica;
    const { value } = this.last;
    const takenAt = view.storeNow();
    const because = reasonOf(value, view);
    const after = this.#lastLeader;
    const isOwn = after === view.replicaId && this.lastTerm !== undefined;
    const lostLeader = this.#lastValue.holder !== undefined && !isOwn ? after : undefined;
    const left = decide.leftBehind(this.#lastValue, this.lastTerm);
    const claimsLostUntil = decide.claimsLostUntil(this.last, view, takenAt);
    return { because, after, record: value, left, lostLeader, claimsLostUntil, takenAt };
  }

  /**
   * Larger than every token that is known. At least the time of the store, and later than each that this replica has
   * met, so that it grows also after a loss of data.
   */
  nextFencingToken(): number {
    const { view } = this.replica;
    return Math.max((this.#lastValue.fencingToken ?? 0) + 1, view.latestTime + 1, view.storeNow());
  }
}

function reasonOf(value: JobRecord | undefined, { incarnation }: View): Backlog['because'] {
  if (value?.fencingToken !== undefined) return value.holder === undefined ? 'released' : 'lease-ended';
  return incarnation.isFirst ? 'first' : 'free';
}
