import { type Reason } from '../base/events/events.js';
import { type Predecessor } from './record-view.js';
import { type Command, type JobRecord, type LeaderFields, type Reply } from './record.js';
import { type TermHandle } from './term.js';

/** What one replica is elected for: a job, or a lock. */
export interface Candidate {
  /** Name of the record. */
  readonly name: string;
  /**
   * Replicas even out how many of these each leads: one that leads more takes later. False: it is reconciled and taken
   * at once, because a caller waits.
   */
  readonly isBalanced: boolean;
  /**
   * The store may forget the record so long after its last write. One that is held for longer is written again before.
   * Left out: never.
   */
  readonly forgetAfterMs?: number;
  /** `lockExpiry`. */
  readonly ttlMs: number;
  /** Its schedule in words, which is compared with that of the leader. Left out: it has none. */
  readonly schedule?: string | undefined;
  /** Nothing of it runs, and no run is about to start. After a change to true it calls `Election.enqueue`. */
  readonly isIdle: boolean;
  /** The fields that a take writes, made from what earlier leaders left. Left out: none. */
  inherit?(predecessor: Predecessor): LeaderFields;
  /** A term begins. Its signal fires at the end. */
  lead(term: TermHandle): void;
  /** Starts nothing more in this term, which is released as soon as it is idle. Left out: it starts nothing. */
  drain?(reason: Reason<'leadershipReleased'>): void;
  /** Its replies in the last term. They see the record before all else is written. Undefined: there are none. */
  readonly replies?: { observe(value: JobRecord): void } | undefined;
  /** What to reply to the command in the record in this term, until the record shows it. Left out: nothing. */
  reply?(command: Command | undefined, term: TermHandle): Reply | undefined;
  /** The election has reconciled what was observed. */
  reconciled?(): void;
}
