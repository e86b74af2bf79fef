import { asLockStoreError, type LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import { type Store } from '../../libs/singleton-job/src/store/store.js';
import { until } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';

/** A store that has begun to connect, and what it reported. */
export interface OpenStore<S extends Store = Store> {
  readonly store: S;
  readonly events: string[];
  readonly disconnected: LockStoreError[];
  readonly warnings: { readonly code: string; readonly message: string }[];
}

export function open<S extends Store>(store: S): OpenStore<S> {
  const opened: OpenStore<S> = { store, events: [], disconnected: [], warnings: [] };
  store.addListener({
    connected: () => opened.events.push('connected'),
    disconnected: (error) => {
      opened.events.push('disconnected');
      opened.disconnected.push(asLockStoreError(error));
    },
    listening: (isListening) => opened.events.push(isListening ? 'listening' : 'not listening'),
    warning: (warning) => opened.warnings.push(warning),
  });
  store.open();
  return opened;
}

/** Resolves when the store is connected, and its last word is that it listens. */
export async function isListening({ events }: OpenStore): Promise<void> {
  const last = () => events.includes('connected') && events.findLast((event) => event.endsWith('listening'));
  await until('the store is connected and listens', () => last() === 'listening' || undefined);
}

/** A server for one spec, and stores on it. All end together. */
export abstract class ServerFixture<S extends Store, O> implements AsyncDisposable {
  readonly #stores: S[] = [];

  protected abstract make(options: Partial<O>): S;
  protected abstract stopServer(): Promise<void>;

  newStore(options: Partial<O> = {}): S {
    const store = this.make(options);
    this.#stores.push(store);
    return store;
  }

  /** A store that has begun to connect. */
  begin(options?: Partial<O>): OpenStore<S> {
    return open(this.newStore(options));
  }

  /** A store that is connected and listens. */
  async connect(options?: Partial<O>): Promise<OpenStore<S>> {
    const opened = this.begin(options);
    await isListening(opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    await this.stopServer();
  }
}
