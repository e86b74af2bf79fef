import { type Clock } from '../../time/index.js';
import { type Listeners } from '../listeners.js';
import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StoreMessage,
} from '../lock-store.js';
import { acquire, claim, forgetExpired, release, renew, setPaused } from './in-memory-locks.js';
import { endSession, heartbeat } from './in-memory-sessions.js';
import { emptyData } from './server-data.js';

const FORGET_EVERY_MS = 60_000;

/**
 * A replacement for a Redis server in the memory of this process: sessions, locks and messages. It uses the wall clock of `clock`.
 * Each {@link InMemoryLockStore} on it is one client.
 */
export class InMemoryServer {
  protected data = emptyData();
  /** Counts the starts of the server: each start has its own run id. */
  protected starts = 1;
  readonly #clock: Clock;
  readonly #clients = new Set<Listeners>();
  #forgotAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  heartbeat(request: HeartbeatRequest): HeartbeatResult {
    return heartbeat(this.data, request, this.#facts());
  }

  endSession(session: SessionToKeep): void {
    endSession(this.data, session, this.now());
  }

  acquire(request: AcquireRequest): AcquireResult {
    this.#forgetExpired();
    return acquire(this.data, request, this.#facts());
  }

  renew(request: RenewRequest): RenewResult {
    return renew(this.data, request, this.now());
  }

  claim(request: ClaimRequest): ClaimResult {
    return claim(this.data, request, this.now());
  }

  release(request: ReleaseRequest): ReleaseResult {
    const result = release(this.data, request, this.now());
    const { name, holder, token } = request;
    if (result.released) this.publish({ kind: 'released', locks: [{ name, holder, token }] });
    return result;
  }

  setPaused(request: SetPausedRequest): SetPausedResult {
    return setPaused(this.data, request, this.now());
  }

  publish(message: StoreMessage): void {
    for (const client of this.#clients) {
      queueMicrotask(() => {
        if (this.#clients.has(client)) client.each((listener) => listener.message?.(message));
      });
    }
  }

  connect(client: Listeners): void {
    this.#clients.add(client);
  }

  disconnect(client: Listeners): void {
    this.#clients.delete(client);
  }

  #forgetExpired(): void {
    const now = this.now();
    if (now < this.#forgotAt + FORGET_EVERY_MS) return;
    this.#forgotAt = now;
    forgetExpired(this.data, now);
  }

  #facts(): { runId: string; now: number } {
    return { runId: `in-memory-${String(this.starts)}`, now: this.now() };
  }

  protected now(): number {
    return Math.floor(this.#clock.wallNow());
  }
}
