import { Client } from 'pg';
import {
  PostgresStore,
  type PostgresStoreOptions,
} from '../../libs/singleton-job/src/store/postgres/postgres-store.js';
import { eventually } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { PostgresServer } from '../../tools/servers/postgres-server.js';

/** A store that talks to PostgreSQL, and what it reported. */
export interface OpenStore {
  readonly store: PostgresStore;
  readonly events: string[];
  readonly disconnected: Error[];
  readonly warnings: { readonly code: string; readonly message: string }[];
}

/** A PostgreSQL server for one spec, and stores on it. All end together. */
export class PostgresFixture {
  readonly #stores: PostgresStore[] = [];

  private constructor(readonly server: PostgresServer) {}

  static async start(args?: readonly string[]): Promise<PostgresFixture> {
    return new PostgresFixture(await PostgresServer.start(args));
  }

  newStore(options: Partial<PostgresStoreOptions> = {}): PostgresStore {
    const defaults = { projectName: 'myapp', connection: this.server.url };
    const store = new PostgresStore({ ...defaults, ...options });
    this.#stores.push(store);
    return store;
  }

  /** A store that has begun to connect. */
  begin(options: Partial<PostgresStoreOptions> = {}): OpenStore {
    const store = this.newStore(options);
    const opened: OpenStore = { store, events: [], disconnected: [], warnings: [] };
    store.addListener({
      connected: () => opened.events.push('connected'),
      disconnected: (error) => {
        opened.events.push('disconnected');
        opened.disconnected.push(error);
      },
      listening: (isListening) => opened.events.push(isListening ? 'listening' : 'not listening'),
      warning: (warning) => opened.warnings.push(warning),
    });
    store.open();
    return opened;
  }

  /** A store that is connected and listens. */
  async connect(options: Partial<PostgresStoreOptions> = {}): Promise<OpenStore> {
    const opened = this.begin(options);
    await this.isListening(opened);
    return opened;
  }

  async isListening({ events }: OpenStore): Promise<void> {
    await eventually('the store listens', () => events.at(-1) === 'listening' || undefined);
  }

  /** Runs a statement as the owner of the server. */
  async sql(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    const client = await this.client();
    try {
      return (await client.query<Record<string, unknown>>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  /** A connection of its own, to look at the server from outside. */
  async client(): Promise<Client> {
    const client = new Client(this.server.url);
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#stores.map((store) => store.close()));
    await this.server.stop();
  }
}
