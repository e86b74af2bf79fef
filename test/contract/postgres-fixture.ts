import { Client } from 'pg';
import {
  PostgresStore,
  type PostgresStoreOptions,
} from '../../libs/singleton-job/src/store/postgres/postgres-store.js';
import { PostgresServer } from '../../tools/servers/postgres-server.js';
import { ServerFixture } from './reporting-store.js';

export class PostgresFixture extends ServerFixture<PostgresStore, PostgresStoreOptions> {
  private constructor(readonly server: PostgresServer) {
    super();
  }

  static async start(args?: readonly string[]): Promise<PostgresFixture> {
    return new PostgresFixture(await PostgresServer.start(args));
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

  protected override make(options: Partial<PostgresStoreOptions>): PostgresStore {
    return new PostgresStore({ projectName: 'myapp', connection: this.server.url, ...options });
  }

  protected override stopServer(): Promise<void> {
    return this.server.stop();
  }
}
