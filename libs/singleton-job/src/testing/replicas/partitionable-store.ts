import { LockStoreError } from '../../errors/index.js';
import { type ForwardedRequest, ForwardingStore } from './forwarding-store.js';

/** A store with a network in front that can be cut: then no request arrives, and no message is received. */
export class PartitionableStore extends ForwardingStore {
  #isCut = false;

  get isSubscribed(): boolean {
    return !this.#isCut && this.store.isSubscribed;
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    for (const listener of this.listeners) {
      listener.unsubscribed?.();
      listener.disconnected?.(cutOff());
    }
  }

  mend(): void {
    if (!this.#isCut) return;
    this.#isCut = false;
    for (const listener of this.listeners) {
      listener.connected?.();
      listener.subscribed?.();
    }
  }

  protected send<T>(_request: ForwardedRequest, _name: string, carryOut: () => Promise<T>): Promise<T> {
    return this.#isCut ? Promise.reject(cutOff()) : carryOut();
  }

  protected receive(deliver: () => void): void {
    if (!this.#isCut) deliver();
  }
}

function cutOff(): LockStoreError {
  return new LockStoreError('STORE_UNREACHABLE', 'the replica is cut off', { wasSent: false });
}
