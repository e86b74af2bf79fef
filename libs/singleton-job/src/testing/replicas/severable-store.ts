import { LockStoreError } from '../../errors/index.js';
import { type ForwardedCommand, ForwardingStore } from './forwarding-store.js';

/** A store with a network in front that can be cut: then no command arrives, and no message is heard. */
export class SeverableStore extends ForwardingStore {
  #isCut = false;

  get hearsReleases(): boolean {
    return !this.#isCut && this.store.hearsReleases;
  }

  cut(): void {
    this.#isCut = true;
    for (const listener of this.listeners) listener.deaf?.();
  }

  mend(): void {
    this.#isCut = false;
    for (const listener of this.listeners) {
      listener.hearing?.();
      listener.reachable?.();
    }
  }

  protected send<T>(_command: ForwardedCommand, _name: string, carryOut: () => Promise<T>): Promise<T> {
    if (!this.#isCut) return carryOut();
    return Promise.reject(new LockStoreError('STORE_UNREACHABLE', 'the replica is cut off', { wasSent: false }));
  }

  protected hear(tell: () => void): void {
    if (!this.#isCut) tell();
  }
}
