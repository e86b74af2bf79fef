import { LockStoreError } from '../../errors/index.js';
import {
  type Bid,
  type Claim,
  type ClaimAnswer,
  type Grant,
  type LockStore,
  type LockStoreListener,
  type Refusal,
  type Release,
  type ReleaseAnswer,
  type Renewal,
  type RenewalAnswer,
} from '../../lock/index.js';

/** A store with a network in front that can be cut: then no command arrives, and no message is heard. */
export class SeverableStore implements LockStore {
  readonly #listeners = new Set<LockStoreListener>();
  #isCut = false;

  constructor(private readonly store: LockStore) {}

  get hearsReleases(): boolean {
    return !this.#isCut && this.store.hearsReleases;
  }

  cut(): void {
    this.#isCut = true;
    for (const listener of this.#listeners) listener.deaf?.();
  }

  mend(): void {
    this.#isCut = false;
    for (const listener of this.#listeners) {
      listener.hearing?.();
      listener.reachable?.();
    }
  }

  acquire(bid: Bid): Promise<Grant | Refusal> {
    return this.#send(() => this.store.acquire(bid));
  }

  renew(renewal: Renewal): Promise<RenewalAnswer> {
    return this.#send(() => this.store.renew(renewal));
  }

  claim(claim: Claim): Promise<ClaimAnswer> {
    return this.#send(() => this.store.claim(claim));
  }

  release(release: Release): Promise<ReleaseAnswer> {
    return this.#send(() => this.store.release(release));
  }

  announce(by: string, names: readonly string[]): Promise<void> {
    return this.#send(() => this.store.announce(by, names));
  }

  batch(send: () => void): void {
    this.store.batch(send);
  }

  listen(listener: LockStoreListener): () => void {
    this.#listeners.add(listener);
    const stop = this.store.listen({
      released: (message) => {
        if (!this.#isCut) listener.released?.(message);
      },
      hearing: () => listener.hearing?.(),
      reachable: () => listener.reachable?.(),
    });
    return () => {
      this.#listeners.delete(listener);
      stop();
    };
  }

  open(): void {
    this.store.open();
  }

  close(): Promise<void> {
    return this.store.close();
  }

  #send<T>(carryOut: () => Promise<T>): Promise<T> {
    if (!this.#isCut) return carryOut();
    return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'the replica is cut off', { wasSent: false }));
  }
}
