import { Client } from 'pg';
import { type LockStoreError } from '../../libs/singleton-job/src/base/errors/lock-store.error.js';
import {
  PostgresLockStore,
  type PostgresLockStoreOptions,
} from '../../libs/singleton-job/src/store/postgres/postgres-lock-store.js';
import { eventually } from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { PostgresServer } from '../../tools/replicas/postgres/postgres-server.js';

/** Sets all columns of the state of a lock back. */
export const NO_STATE = `token = 0, created_at = NULL, claimed = NULL, claimed_by = NULL, handled = NULL, slot = NULL, run_started_at = NULL,
  run_ended_at = NULL, schedule = NULL, paused_at = NULL, state_expires_at = NULL`;

/** A store that talks to PostgreSQL, and what it reported. */
export interface OpenStore {
  readonly store: PostgresLockStore;
  readonly events: string[];
  readonly disconnected: LockStoreError[];
  /** Their codes. */
  readonly warnings: string[];
}

/** A PostgreSQL server for one spec, and stores on it. All end together. */
export class PostgresFixture {
  readonly server: PostgresServer;
  readonly #stores: PostgresLockStore[] = [];

  private constructor(server: PostgresServer) {
    this.server = server;
  }

  static async start(args?: readonly string[]): Promise<PostgresFixture> {
    return new PostgresFixture(await PostgresServer.start(args));
  }

  /** A store that has begun to connect. */
  begin(options: Partial<PostgresLockStoreOptions> = {}): OpenStore {
    const store = new PostgresLockStore({ projectName: 'myapp', connection: this.server.url, ...options });
    this.#stores.push(store);
    const opened: OpenStore = { store, events: [], disconnected: [], warnings: [] };
    const note = (event: string) => () => opened.events.push(event);
    store.addListener({
      connected: note('connected'),
      disconnected: (error) => {
        opened.events.push('disconnected');
        opened.disconnected.push(error);
      },
      subscribed: note('subscribed'),
      unsubscribed: note('unsubscribed'),
      warning: ({ code }) => opened.warnings.push(code),
    });
    store.open();
    return opened;
  }

  /** A store that is connected and subscribed. */
  async connect(options: Partial<PostgresLockStoreOptions> = {}): Promise<OpenStore> {
    const opened = this.begin(options);
    await this.isConnected(opened);
    return opened;
  }

  async isConnected({ events }: OpenStore): Promise<void> {
    const isMet = () => (events.includes('connected') && events.includes('subscribed')) || undefined;
    await eventually('the store is connected and subscribed', isMet);
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
