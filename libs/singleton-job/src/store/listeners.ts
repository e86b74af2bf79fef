import { type LockStoreError } from '../errors/index.js';
import { type LockStoreListener, type ReleaseMessage } from './lock-store.js';

/** Who listens to a store. One that throws keeps none of the others from being told. */
export class Listeners {
  readonly #listeners = new Set<LockStoreListener>();

  add(listener: LockStoreListener): () => void {
    // a wrapper of its own: the same listener may be added twice, and each is stopped by itself
    const entry: LockStoreListener = {
      released: (message) => listener.released?.(message),
      hearing: () => listener.hearing?.(),
      reachable: () => listener.reachable?.(),
      deaf: () => listener.deaf?.(),
      refused: (error) => listener.refused?.(error),
      mayEvict: (policy) => listener.mayEvict?.(policy),
    };
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  released(message: ReleaseMessage): void {
    this.#tell((listener) => listener.released?.(message));
  }

  hearing(): void {
    this.#tell((listener) => listener.hearing?.());
  }

  reachable(): void {
    this.#tell((listener) => listener.reachable?.());
  }

  deaf(): void {
    this.#tell((listener) => listener.deaf?.());
  }

  refused(error: LockStoreError): void {
    this.#tell((listener) => listener.refused?.(error));
  }

  mayEvict(policy: string | undefined): void {
    this.#tell((listener) => listener.mayEvict?.(policy));
  }

  #tell(tell: (listener: LockStoreListener) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        tell(listener);
      } catch {
        // the store has nobody to complain to, and the next listener still has to hear
      }
    }
  }
}
