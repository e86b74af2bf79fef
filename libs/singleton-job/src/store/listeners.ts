import { type LockStoreError } from '../errors/index.js';
import { type LockStoreListener, type StoreMessage } from './lock-store.js';

/** The listeners of a store. One that throws does not keep an event from the others. */
export class Listeners implements Required<LockStoreListener> {
  readonly #listeners = new Set<{ readonly listener: LockStoreListener }>();

  add(listener: LockStoreListener): () => void {
    // a new object for each call: a listener that is added twice must be removed twice
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
        // the next listener must still be called, and the store has no way to report the error
      }
    }
  }
}
