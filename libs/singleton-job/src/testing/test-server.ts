import { type Holder, type ListedSession, type SessionId } from '../store/lock-store.js';
import { emptyData, type ServerData } from '../store/memory/in-memory-sessions.js';
import { InMemoryServer } from '../store/memory/in-memory-store.js';

/** A server in memory with the faults of a real one. */
export class TestServer extends InMemoryServer {
  /** Loses everything and stays the same server. */
  loseData(): void {
    this.data = emptyData();
  }

  /** Loses the list of sessions and nothing else. */
  loseSessions(): void {
    this.data.sessions.clear();
  }

  /** A copy of everything, as a server writes it to its disk. */
  snapshot(): ServerData {
    return structuredClone(this.data);
  }

  /** Another server takes over: with the data of a snapshot, or with none. */
  restart(snapshot: ServerData = emptyData()): void {
    this.data = structuredClone(snapshot);
    this.starts++;
  }

  /** Sets a lock as another program would. Without `ttlMs` it lives for ever. */
  occupy(name: string, holder: Holder, ttlMs?: number): void {
    this.data.locks.set(name, { holder, expiresAt: ttlMs === undefined ? undefined : this.now() + ttlMs });
  }

  /** Deletes a lock and leaves its state. */
  free(name: string): void {
    this.data.locks.delete(name);
  }

  /** Deletes the state of a lock and leaves the lock. */
  forget(name: string): void {
    this.data.states.delete(name);
  }

  /** The current holder of a lock. Undefined: the lock is free. */
  holderOf(name: string): Holder | undefined {
    return this.lockOf(name, this.now())?.holder;
  }

  /** A session as the server lists it now. An end that has passed counts, also before a heartbeat marks it. Undefined: not listed. */
  sessionOf(id: SessionId): ListedSession | undefined {
    const session = this.data.sessions.get(id);
    if (session === undefined) return undefined;
    const { hasEnded, end } = session;
    return { hasEnded: hasEnded || end <= this.now(), end };
  }
}
