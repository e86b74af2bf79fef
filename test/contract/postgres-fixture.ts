import { Client } from 'pg';
import {
  PostgresStore,
  type PostgresStoreOptions,
} from '../../libs/singleton-job/src/store/postgres/postgres-store.js';
import { PostgresServer } from '../../tools/servers/postgres-server.js';
import { isListening, open, type OpenStore } from './open-store.js';

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
  begin(options: Partial<PostgresStoreOptions> = {}): OpenStore<PostgresStore> {
    return open(this.newStore(options));
  }

  /** A store that is connected and listens. */
  async connect(options: Partial<PostgresStoreOptions> = {}): Promise<OpenStore<PostgresStore>> {
    const opened = this.begin(options);
    await isListening(opened);
    return opened;
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
