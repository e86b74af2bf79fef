import {
  type HeartbeatRequest,
  type HeartbeatResult,
  type ListedSession,
  lockExpiryOf,
  lockLifeMs,
  replicaOf,
  type SessionId,
} from '../store/lock-store.js';

/** The list of sessions of all replicas, as the answers to heartbeats show it. An answer has only what changed since the one before. */
export class SessionList {
  readonly #sessions = new Map<SessionId, ListedSession>();
  #known: HeartbeatRequest['knownList'];
  /** The replicas with a session that has not ended: by `lockExpiry`, and all of them. */
  #living: ReadonlyMap<number | 'any', ReadonlySet<string>> = new Map();

  /** Up to where this replica has the list. Undefined: it needs the whole list. */
  get known(): HeartbeatRequest['knownList'] {
    return this.#known;
  }

  /** Takes over the changes that an answer shows. Returns whether there are any. */
  apply({ changes, isWholeList, listedCount, storeTime, version, serverSince }: HeartbeatResult): boolean {
    if (isWholeList) this.#sessions.clear();
    // in the order of the store: a session whose end it has just noticed is listed once, however long ago it ended
    this.#forget(storeTime);
    for (const [id, session] of changes) this.#sessions.set(id, session);
    // a difference: the store has lost its list, or changes of it
    this.#known = this.#sessions.size === listedCount ? { version, serverSince } : undefined;
    if (!isWholeList && changes.size === 0) return false;
    this.#countLiving();
    return true;
  }

  /** Whether a session can never be extended again, so that its locks may be taken. */
  hasEnded(id: SessionId): boolean {
    return this.#sessions.get(id)?.hasEnded === true;
  }

  /** Whether a session is listed. A session that is not listed may still be alive: the list may be lost. */
  has(id: SessionId): boolean {
    return this.#sessions.has(id);
  }

  /** When an ended session sent its last heartbeat, by the clock of the store. Undefined: not known. */
  lastHeartbeatOf(id: SessionId): number | undefined {
    const session = this.#sessions.get(id);
    return session === undefined ? undefined : session.end - lockExpiryOf(id);
  }

  /** Whether a replica has a session that has not ended. */
  isAlive(replicaId: string): boolean {
    return this.#living.get('any')?.has(replicaId) === true;
  }

  /** How many replicas have a session that has not ended, of this `lockExpiry` or of any. */
  livingCount(lockExpiryMs: number | 'any' = 'any'): number {
    return this.#living.get(lockExpiryMs)?.size ?? 0;
  }

  /** The store forgets the same sessions at the same time, and does not say so. */
  #forget(storeTime: number): void {
    for (const [id, { hasEnded, end }] of this.#sessions) {
      if (hasEnded && storeTime - end > 2 * lockLifeMs(lockExpiryOf(id))) this.#sessions.delete(id);
    }
  }

  #countLiving(): void {
    const living = new Map<number | 'any', Set<string>>();
    for (const [id, { hasEnded }] of this.#sessions) {
      const replica = replicaOf(id);
      if (hasEnded || replica === undefined) continue;
      for (const key of ['any', lockExpiryOf(id)] as const) {
        living.set(key, (living.get(key) ?? new Set()).add(replica));
      }
    }
    this.#living = living;
  }
}
