import { type Clock } from '../../time/index.js';
import { type Listeners } from '../listeners.js';
import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
  type Holder,
  type ListedSession,
  type LockMessage,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SessionId,
  type SessionToKeep,
} from '../lock-store.js';
import { acquire, claim, forgetExpired, lockOf, release, renew } from './in-memory-locks.js';
import { endSession, heartbeat } from './in-memory-sessions.js';
import { emptyData, type ServerData } from './server-data.js';

const FORGET_EVERY_MS = 60_000;

/**
 * What a Redis server is to its clients, in the memory of this process: sessions, locks and messages, by the wall clock of its
 * clock. Each {@link InMemoryLockStore} on it is one client. A test can do to it what happens to a Redis server.
 */
export class InMemoryServer {
  readonly #clock: Clock;
  readonly #clients = new Set<Listeners>();
  #data = emptyData();
  #starts = 1;
  #forgotAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  heartbeat(request: HeartbeatRequest): HeartbeatResult {
    return heartbeat(this.#data, request, this.#facts());
  }

  endSession(session: SessionToKeep): void {
    endSession(this.#data, session, this.#now());
  }

  acquire(request: AcquireRequest): AcquireResult {
    this.#forgetExpired();
    return acquire(this.#data, request, this.#facts());
  }

  renew(request: RenewRequest): RenewResult {
    return renew(this.#data, request, this.#now());
  }

  claim(request: ClaimRequest): ClaimResult {
    return claim(this.#data, request, this.#now());
  }

  release(request: ReleaseRequest): ReleaseResult {
    const result = release(this.#data, request, this.#now());
    const { name, holder, token } = request;
    if (result.released) this.publish({ kind: 'released', locks: [{ name, holder, token }] });
    return result;
  }

  publish(message: LockMessage): void {
    for (const client of this.#clients) {
      queueMicrotask(() => {
        if (this.#clients.has(client)) client.message(message);
      });
    }
  }

  connect(client: Listeners): void {
    this.#clients.add(client);
  }

  disconnect(client: Listeners): void {
    this.#clients.delete(client);
  }

  /** Loses everything and stays the same server, as after FLUSHALL. */
  loseData(): void {
    this.#data = emptyData();
  }

  /** Loses the list of sessions and nothing else. */
  loseSessions(): void {
    this.#data.sessions.clear();
  }

  /** A copy of everything, as Redis writes it to its disk. */
  snapshot(): ServerData {
    return structuredClone(this.#data);
  }

  /** Another server takes over: with the data of a snapshot, or with none. */
  restart(snapshot: ServerData = emptyData()): void {
    this.#data = structuredClone(snapshot);
    this.#starts++;
  }

  /** Sets a lock as a program does that is not of this library. Without `ttlMs` it lives for ever. */
  occupy(name: string, holder: Holder, ttlMs?: number): void {
    this.#data.locks.set(name, { holder, expiresAt: ttlMs === undefined ? undefined : this.#now() + ttlMs });
  }

  /** Deletes a lock and leaves its state. */
  free(name: string): void {
    this.#data.locks.delete(name);
  }

  /** Deletes the state of a lock and leaves the lock. */
  forget(name: string): void {
    this.#data.states.delete(name);
  }

  /** Who holds a lock at this moment. Undefined: the lock is free. */
  holderOf(name: string): Holder | undefined {
    return lockOf(this.#data, name, this.#now())?.holder;
  }

  /** What is listed of a session at this moment, also if no heartbeat has marked it as ended yet. Undefined: it is not listed. */
  sessionOf(id: SessionId): ListedSession | undefined {
    const end = this.#data.sessions.get(id);
    return end === undefined ? undefined : { hasEnded: end <= this.#now(), end: Math.abs(end) };
  }

  #forgetExpired(): void {
    const now = this.#now();
    if (now < this.#forgotAt + FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    forgetExpired(this.#data, now);
  }

  #facts(): { runId: string; now: number } {
    return { runId: `in-memory-${String(this.#starts)}`, now: this.#now() };
  }

  #now(): number {
    return Math.floor(this.#clock.wallNow());
  }
}
