import { type StoreListener } from './store.js';

export type Warning = Parameters<NonNullable<StoreListener['warning']>>[0];

/** The listeners of a store. One that throws does not keep an event from the others. */
export class Listeners {
  readonly #listeners = new Set<StoreListener>();
  readonly #warned = new Set<string>();
  #isListening = false;

  /** Returns how to remove the listener. */
  add(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reports an event: `each((listener) => listener.connected?.())`. */
  each(report: (listener: StoreListener) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        report(listener);
      } catch {
        // the next listener must still be called, and the store has no way to report the error
      }
    }
  }

  /** Reports whether messages arrive, when that changes. */
  listening(isListening: boolean): void {
    if (isListening === this.#isListening) return;
    this.#isListening = isListening;
    this.each((listener) => listener.listening?.(isListening));
  }

  /** Reports a warning, each code once. */
  warn(warning: Warning): void {
    if (this.#warned.has(warning.code)) return;
    this.#warned.add(warning.code);
    this.each((listener) => listener.warning?.(warning));
  }

  /** A store that is closed reports nothing any more. */
  clear(): void {
    this.#listeners.clear();
  }
}
