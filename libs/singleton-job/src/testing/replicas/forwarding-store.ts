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
} from '../../store/index.js';

/** What goes from a process to its store. */
export type ForwardedCommand = 'acquire' | 'renew' | 'claim' | 'release' | 'announce';

/** A store in front of another, which decides what becomes of each command and each message on its way. */
export abstract class ForwardingStore implements LockStore {
  protected readonly listeners = new Set<LockStoreListener>();

  constructor(protected readonly store: LockStore) {}

  abstract readonly hearsReleases: boolean;

  /** A command is sent; `carryOut` has the real store carry it out. */
  protected abstract send<T>(command: ForwardedCommand, name: string, carryOut: () => Promise<T>): Promise<T>;

  /** A message of a release arrives; `tell` passes it on. */
  protected abstract hear(tell: () => void): void;

  acquire(bid: Bid): Promise<Grant | Refusal> {
    return this.send('acquire', bid.name, () => this.store.acquire(bid));
  }

  renew(renewal: Renewal): Promise<RenewalAnswer> {
    return this.send('renew', renewal.name, () => this.store.renew(renewal));
  }

  claim(claim: Claim): Promise<ClaimAnswer> {
    return this.send('claim', claim.name, () => this.store.claim(claim));
  }

  release(release: Release): Promise<ReleaseAnswer> {
    return this.send('release', release.name, () => this.store.release(release));
  }

  announce(by: string, names: readonly string[]): Promise<void> {
    return this.send('announce', names.join(','), () => this.store.announce(by, names));
  }

  batch(send: () => void): void {
    this.store.batch(send);
  }

  listen(listener: LockStoreListener): () => void {
    this.listeners.add(listener);
    const stop = this.store.listen({
      released: (message) => {
        this.hear(() => listener.released?.(message));
      },
      hearing: () => listener.hearing?.(),
      reachable: () => listener.reachable?.(),
    });
    return () => {
      this.listeners.delete(listener);
      stop();
    };
  }

  open(): void {
    this.store.open();
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
