import { expect } from '@jest/globals';
import { asStoreError, type StoreError } from '../../libs/singleton-job/src/base/errors/store.error.js';
import { type Store } from '../../libs/singleton-job/src/store/store.js';
import { SuiteClient, until } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';

/** A store that has begun to connect, and what it reported. */
export interface OpenStore<S extends Store = Store> {
  readonly store: S;
  /** Short forms of its requests. */
  readonly replica: SuiteClient;
  readonly events: string[];
  readonly hints: (readonly string[] | '*')[];
  readonly disconnected: StoreError[];
  readonly warnings: { readonly code: string; readonly message: string }[];
}

const opened = new Set<Store>();

/** For the end of each test: a store that was left open keeps its process alive. */
export async function closeOpened(): Promise<void> {
  await Promise.all([...opened].map((store) => store.close()));
  opened.clear();
}

export function open<S extends Store>(store: S): OpenStore<S> {
  opened.add(store);
  const replica = new SuiteClient(store);
  const reported: OpenStore<S> = { store, replica, events: [], hints: [], disconnected: [], warnings: [] };
  store.addListener({
    connected: () => reported.events.push('connected'),
    disconnected: (error) => {
      reported.events.push('disconnected');
      reported.disconnected.push(asStoreError(error));
    },
    listening: (isListening) => reported.events.push(isListening ? 'listening' : 'not listening'),
    hint: (names) => reported.hints.push(names),
    warning: (warning) => reported.warnings.push(warning),
  });
  store.open();
  return reported;
}

/** What matches an error or a warning with this code, whose message contains this text or matches it. */
export function saying(code: string, text: string | RegExp): { readonly code: string; readonly message: unknown } {
  const message = typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);
  return { code, message };
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
