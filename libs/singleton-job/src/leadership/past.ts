import { type Clock } from '../base/time/clock.js';
import * as decide from './decide.js';
import { replicaOf } from '../store/lease-id.js';
import { type JobRecord, type OwnFields, type SeenRecord } from './record.js';
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
  /** The replica that held the record when its lease ended, and is not this one. Undefined: the record was released. */
  readonly lostLeader: string | undefined;
  /** Occurrences up to then may have been claimed in data that are gone. 0: no claim is lost. */
  readonly claimsLostUntil: number;
  /** The time of the store when the record was taken. */
  readonly takenAt: number;
}

/** What this replica remembers of a record, which the store may have lost. */
export class Past {
  #highestToken = 0;
  #lastLeader: string | undefined;
  /** The newest record that was not absent. */
  #lastValue: JobRecord = {};
  /** The last one that is over. A run that outlives it still sets its fields. */
  lastTerm: Term | undefined;

  constructor(private readonly replica: { readonly id: string; readonly clock: Clock; readonly view: View }) {}

  seen({ value }: SeenRecord): void {
    if (value === undefined) return;
    this.#lastValue = value;
    this.#highestToken = Math.max(this.#highestToken, value.fencingToken ?? 0);
    if (value.holder !== undefined) this.#lastLeader = replicaOf(value.holder);
  }

  /** What a take now finds. */
  backlog(record: SeenRecord): Backlog {
    const { id, clock, view } = this.replica;
    const { value } = record;
    const takenAt = view.storeNow();
    const because = reasonOf(value, view);
    const after = this.#lastLeader;
    const lostLeader = because === 'lease-ended' && after !== id ? after : undefined;
    // if the record is gone, what was seen last is still true of the past
    const left = decide.leftBehind(value ?? this.#lastValue, this.lastTerm);
    const claimsLostUntil = decide.claimsLostUntil(record, view, takenAt, clock.wallNow());
    return { because, after, record: value, left, lostLeader, claimsLostUntil, takenAt };
  }

  nextFencingToken(record: SeenRecord, { takenAt }: Backlog): number {
    return decide.nextFencingToken(record, this.#highestToken, takenAt);
  }
}

function reasonOf(value: JobRecord | undefined, { incarnation }: View): Backlog['because'] {
  if (value !== undefined) return value.holder === undefined ? 'released' : 'lease-ended';
  return incarnation.isFirst ? 'first' : 'free';
}
