import { LockStoreError } from '../../errors/index.js';
import { Listeners } from '../listeners.js';
import {
  type AcquireRequest,
  type AcquireResult,
  type ClaimRequest,
  type ClaimResult,
  type HeartbeatRequest,
  type HeartbeatResult,
  type LockStore,
  type LockStoreListener,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StoreMessage,
} from '../lock-store.js';
import { type InMemoryServer } from './in-memory-server.js';

/**
 * Locks in the memory of this process, for tests, simulations and applications that run only once. It takes the same steps as
 * the Redis store. Each replica has a store of its own, on the same server in memory.
 */
export class InMemoryLockStore implements LockStore {
  readonly name = 'memory';
  readonly #server: InMemoryServer;
  readonly #listeners = new Listeners();
  #isClosed = false;

  constructor(server: InMemoryServer) {
    this.#server = server;
    server.connect(this.#listeners);
  }

  get isSubscribed(): boolean {
    return !this.#isClosed;
  }

  heartbeat(request: HeartbeatRequest): Promise<HeartbeatResult> {
    return this.#answer((server) => server.heartbeat(request));
  }

  endSession(session: SessionToKeep): Promise<void> {
    return this.#answer((server) => {
      server.endSession(session);
    });
  }

  acquire(request: AcquireRequest): Promise<AcquireResult> {
    return this.#answer((server) => server.acquire(request));
  }

  renew(request: RenewRequest): Promise<RenewResult> {
    return this.#answer((server) => server.renew(request));
  }

  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#answer((server) => server.claim(request));
  }

  release(request: ReleaseRequest): Promise<ReleaseResult> {
    return this.#answer((server) => server.release(request));
  }

  setPaused(request: SetPausedRequest): Promise<SetPausedResult> {
    return this.#answer((server) => server.setPaused(request));
  }

  publish(message: StoreMessage): Promise<void> {
    return this.#answer((server) => {
      server.publish(message);
    });
  }

  addListener(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    queueMicrotask(() => {
      if (!this.#isClosed) this.#listeners.each((listener) => listener.subscribed?.());
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#server.disconnect(this.#listeners);
    return Promise.resolve();
  }

  #answer<T>(step: (server: InMemoryServer) => T): Promise<T> {
    if (!this.#isClosed) return Promise.resolve(step(this.#server));
    return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'the lock store is closed', { wasSent: false }));
  }
}
