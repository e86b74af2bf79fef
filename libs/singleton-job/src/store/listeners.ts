import { type LockStoreError } from '../errors/index.js';
import { type LockStoreListener, type StoreMessage } from './lock-store.js';

/** The listeners of a store. One that throws does not keep an event from the others. */
export class Listeners implements Required<LockStoreListener> {
  readonly #listeners = new Set<{ readonly listener: LockStoreListener }>();

  add(listener: LockStoreListener): () => void {
    // an entry of its own: the same listener may be added twice, and each is removed by itself
    const entry = { listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  connected(): void {
    this.#notify((listener) => listener.connected?.());
  }

  disconnected(error: LockStoreError): void {
    this.#notify((listener) => listener.disconnected?.(error));
  }

  subscribed(): void {
    this.#notify((listener) => listener.subscribed?.());
  }

  unsubscribed(): void {
    this.#notify((listener) => listener.unsubscribed?.());
  }

  message(message: StoreMessage): void {
    this.#notify((listener) => listener.message?.(message));
  }

  messagesDenied(error: LockStoreError): void {
    this.#notify((listener) => listener.messagesDenied?.(error));
  }

  evictionPossible(policy: string | undefined): void {
    this.#notify((listener) => listener.evictionPossible?.(policy));
  }

  restartsHidden(): void {
    this.#notify((listener) => listener.restartsHidden?.());
  }

  #notify(call: (listener: LockStoreListener) => void): void {
    for (const { listener } of [...this.#listeners]) {
      try {
        call(listener);
      } catch {
        // the store cannot report it, and the next listener must still be called
      }
    }
  }
}
