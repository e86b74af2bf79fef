import { type StoreListener } from './store.js';

/** The listeners of a store. One that throws does not keep an event from the others. */
export class Listeners {
  readonly #listeners = new Set<{ readonly listener: StoreListener }>();

  /** Returns how to remove the listener. One that is added twice must be removed twice. */
  add(listener: StoreListener): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  /** Reports an event: `each((listener) => listener.connected?.())`. */
  each(report: (listener: StoreListener) => void): void {
    for (const { listener } of [...this.#listeners]) {
      try {
        report(listener);
      } catch {
        // the next listener must still be called, and the store has no way to report the error
      }
    }
  }
}
