import { type LeaseId, ttlOf } from './lease-id.js';

/**
 * The contract of a store: leases and records, and nothing that knows of leaders, schedules or pauses. `describeStore`
 * checks each rule.
 *
 * 1. **A request that resolves is certain, one that rejects is unknown.** It may be carried out, or not, or twice, or
 *    later. No rule forbids to send one again. One that has not settled after the shortest TTL of a lease counts as
 *    rejected, so reject it sooner, such as after a fifth of that.
 * 2. **The requests of one store are carried out in the order in which they were sent.** A store uses one connection
 *    for them.
 * 3. **Messages may be lost, late or doubled.** They carry no facts: a replica that gets one reads the store.
 */

export { type LeaseId, ttlOf };

/**
 * A record as the store has it: `value` is JSON, `revision` grows with each write and is at least the time of the
 * store.
 */
export interface StoredRecord {
  /** Of its last write. */
  readonly revision: number;
  /** JSON. */
  readonly value: string;
}

/** Which data this is. Another incarnation means: the server is another one, was restarted, or has lost its data. */
export interface Incarnation {
  /**
   * `server/since`. `/since` where the server hides itself. Empty: no request that keeps a lease has come to this
   * server yet.
   */
  readonly id: string;
  /** The time of the store at which a request first met it. */
  readonly since: number;
  /** Nothing was noted before, and the request that noted it came from a newcomer. */
  readonly isFirst: boolean;
}

/** One heartbeat of a replica. */
export interface SyncRequest {
  /** The replica has met no incarnation yet. */
  readonly isNewcomer: boolean;
  /** Leases to keep, if they are there. */
  readonly renew: readonly LeaseId[];
  /** Leases to make, or to keep. */
  readonly grant: readonly LeaseId[];
  /** Leases to end now. */
  readonly revoke: readonly LeaseId[];
  /** Names of records. */
  readonly read: readonly string[];
}

/** What a replica sees. */
export interface SyncResult {
  /** By the clock of the store, in milliseconds since the epoch. */
  readonly time: number;
  /** The data that answered. */
  readonly incarnation: Incarnation;
  /** Every living lease of the project, and for how many milliseconds it still lives. */
  readonly leases: ReadonlyMap<LeaseId, number>;
  /** In the order of `read`. Undefined: there is none. */
  readonly records: readonly (StoredRecord | 'unreadable' | undefined)[];
}

/** One record to write. */
export interface Write {
  /** Of the record. */
  readonly name: string;
  /** The revision that the writer has seen. 0: there was no record. */
  readonly ifRevision: number;
  /** JSON. */
  readonly value: string;
  /** The store may forget the record so long after this write. Left out: never. */
  readonly forgetAfterMs?: number;
}

/** Records to write, each on its own. */
export interface CasRequest {
  /** The `id` of the incarnation that the writer has seen. */
  readonly incarnation: string;
  /** By the clock of the store. Carried out at this time or later, the request does nothing. */
  readonly until: number;
  /** Of different records. */
  readonly writes: readonly Write[];
}

/** What a store reports on its own. Each callback may be left out. */
export interface StoreListener {
  /** A connection is open. What was seen before may be out of date. */
  connected?(): void;
  /**
   * The connection is lost, or could not be opened. Called for each attempt. It is for the log only: what is under way
   * must reject all the same.
   */
  disconnected?(error: Error): void;
  /** Whether hints arrive. False at first. */
  listening?(isListening: boolean): void;
  /** These records have changed, or any. */
  hint?(names: readonly string[] | '*'): void;
  /** What puts leases or records at risk, or denies hints. The code is stable, the message says what to do. */
  warning?(warning: { readonly code: string; readonly message: string }): void;
}

/** A server that keeps leases and records, as one replica uses it. */
export interface Store {
  /** For log lines and messages, such as `Redis`. */
  readonly name: string;

  /**
   * Renews, grants and revokes leases, and reads records:
   *
   * 1. The records are read as of a moment that is not later than that of the leases.
   * 2. If the server is another than the noted one, or none is noted, a request that renews or grants notes the
   *    incarnation. Any other has an empty `id` in its answer. A request that cannot see the server compares nothing.
   * 3. Leases whose end has passed are removed. One that this request cannot remove, such as a locked one, may be
   *    answered with 0 ms, until a TTL after its end. A lease that would live longer than its TTL is shortened: the
   *    clock was set back.
   * 4. It renews the leases that are there, then grants, then revokes. One that it cannot renew is not in the answer.
   * 5. A record that cannot be read is `'unreadable'`, and fails nothing else.
   */
  sync(request: SyncRequest): Promise<SyncResult>;

  /**
   * Writes each record whose revision is `ifRevision`. The new revision is max(old + 1, now). Resolves to the new
   * revisions. Undefined: not written, also because the row is locked. Writes nothing at all unless the incarnation of
   * the request, the noted one and the server that answers are the same, and `until` has not come.
   */
  compareAndSet(request: CasRequest): Promise<readonly (number | undefined)[]>;

  /**
   * Says to all replicas that these records have changed, or any. A failure of it is no failure of anything else. Left
   * out: they read all records once a second.
   */
  publish?(names: readonly string[] | '*'): Promise<void>;

  /** Returns how to remove the listener. */
  addListener(listener: StoreListener): () => void;

  /** Connects, and connects again whenever the connection is lost. Never throws. A second call does nothing. */
  open(): void;

  /** Ends the connections. What is under way rejects. */
  close(): Promise<void>;
}
