import { LockStoreError } from '../../errors/index.js';
import { type Clock } from '../../time/index.js';
import { type InMemoryLocks } from './in-memory-locks.js';
import { InMemoryServer } from './in-memory-server.js';
import { Listeners } from '../listeners.js';
import {
  type Bid,
  type Claim,
  type ClaimAnswer,
  type Grant,
  type Holder,
  type LockStore,
  type LockStoreListener,
  ownerOf,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type Renewal,
  type RenewalAnswer,
} from '../lock-store.js';

/**
 * Locks in the memory of this process, for tests, simulations and applications that run only once.
 *
 * It takes the steps of the Redis store one by one: time to live, state, fencing tokens and messages, by the wall clock
 * of the clock it is given. Several replicas in one process have a {@link replica} of it each.
 */
export class InMemoryLockStore implements LockStore {
  readonly #clock: Clock;
  readonly #server: InMemoryServer;
  readonly #listeners = new Listeners();
  #isClosed = false;

  constructor(clock: Clock, server = new InMemoryServer(clock)) {
    this.#clock = clock;
    this.#server = server;
    server.connect(this.#listeners);
  }

  /**
   * Another store on the same locks, as another process has it. A message counts one receiver for each, and closing one
   * leaves the others as they are.
   */
  replica(): InMemoryLockStore {
    return new InMemoryLockStore(this.#clock, this.#server);
  }

  get hearsReleases(): boolean {
    return !this.#isClosed;
  }

  acquire(bid: Bid): Promise<Grant | Refusal> {
    return this.#step((locks) => locks.acquire(bid));
  }

  renew(renewal: Renewal): Promise<RenewalAnswer> {
    return this.#step((locks) => locks.renew(renewal));
  }

  claim(claim: Claim): Promise<ClaimAnswer> {
    return this.#step((locks) => locks.claim(claim));
  }

  release(release: Release): Promise<ReleaseAnswer> {
    return this.#step((locks) => {
      const answer = locks.release(release);
      if (answer.released && !release.quietly) {
        this.#server.publish(ownerOf(release.holder) ?? release.holder, [release.name]);
      }
      return answer;
    });
  }

  announce(by: string, names: readonly string[]): Promise<void> {
    return this.#step(() => {
      this.#server.publish(by, names);
    });
  }

  batch(send: () => void): void {
    send();
  }

  listen(listener: LockStoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    queueMicrotask(() => {
      if (this.#isClosed) return;
      this.#listeners.hearing();
      this.#listeners.reachable();
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#server.disconnect(this.#listeners);
    return Promise.resolve();
  }

  /** Forgets every lock and every state, as FLUSHALL does or a restart without persistence. */
  loseData(): void {
    this.#server.locks.clear();
  }

  /** Remembers every lock and every state. Returns how to go back to it, as a promoted replica does that missed the last writes. */
  remember(): () => void {
    return this.#server.locks.remember();
  }

  /** Sets a lock as somebody does who keeps no state; without `ttlMs` it stays for ever. */
  occupy(name: string, holder: Holder, ttlMs?: number): void {
    this.#server.locks.occupy(name, { holder, ttlMs });
  }

  /** Who holds a lock at this moment; undefined if it is free. */
  holderOf(name: string): Holder | undefined {
    return this.#server.locks.holderOf(name);
  }

  /** Deletes a lock, whoever holds it, and leaves its state. */
  free(name: string): void {
    this.#server.locks.free(name);
  }

  /** Deletes the state of a lock and leaves the lock to whoever holds it. */
  forget(name: string): void {
    this.#server.locks.forget(name);
  }

  #step<T>(take: (locks: InMemoryLocks) => T): Promise<T> {
    if (this.#isClosed)
      return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'the lock store is closed', { wasSent: false }));
    return Promise.resolve(take(this.#server.locks));
  }
}
