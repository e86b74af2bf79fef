import { createHash } from 'node:crypto';
import { Listeners } from '../listeners.js';
import { type ServerStoreOptions } from '../store-options.js';
import {
  type CasRequest,
  type Store,
  type StoredRecord,
  type StoreListener,
  type SyncRequest,
  type SyncResult,
} from '../store.js';
import { newClient, type PostgresConnectionOptions } from './postgres-client.js';
import { type ConnectionSettings, PostgresConnection } from './postgres-connection.js';
import { postgresError, sqlState } from './postgres-errors.js';
import { prepareServer } from './prepare-server.js';
import { hint, PostgresSubscription } from './subscription.js';

export interface PostgresStoreOptions extends ServerStoreOptions<PostgresConnectionOptions> {
  /** Where the tables and functions are. @default 'singleton_job' */
  readonly schema?: string | undefined;
  /** Whether the store creates what is missing in the schema. @default true */
  readonly migrate?: boolean | undefined;
}

type SyncAnswer = Pick<SyncResult, 'time' | 'incarnation'> & {
  readonly leases: Readonly<Record<string, number>>;
  readonly records: Readonly<Record<string, StoredRecord>>;
};

/** Leases and records in PostgreSQL 13 or later: one connection for requests, and while that one is open, one that listens. */
export class PostgresStore implements Store {
  readonly name = 'PostgreSQL';
  readonly #listeners = new Listeners();
  readonly #schema: string;
  readonly #channel: string;
  readonly #requests: PostgresConnection;
  readonly #subscription: PostgresSubscription | undefined;
  #role: string | undefined;
  #setsIsolation = false;

  constructor(private readonly options: PostgresStoreOptions) {
    const { projectName, schema = 'singleton_job', migrate = true, subscribes = true } = options;
    this.#schema = schema;
    // a channel is a name, of at most 63 bytes
    const hash = createHash('sha256').update(`${schema}:${projectName}`).digest('hex');
    this.#channel = `singleton_job_${hash.slice(0, 32)}`;
    const settings = this.#settings(options);
    this.#requests = new PostgresConnection(settings, {
      prepare: async (query) => {
        this.#role = await prepareServer(query, schema, migrate);
      },
      onReady: () => {
        this.#listeners.each((listener) => listener.connected?.());
        this.#subscription?.start();
      },
      onLost: (error) => {
        void this.#subscription?.stop();
        this.#listeners.each((listener) => listener.disconnected?.(error));
      },
    });
    if (subscribes)
      this.#subscription = new PostgresSubscription(this.#channel, settings, this.#requests, this.#listeners);
  }

  async sync({ isNewcomer, renew, grant, revoke, read }: SyncRequest): Promise<SyncResult> {
    const answer = await this.#call<SyncAnswer>('sync', [isNewcomer, renew, grant, revoke, read]);
    const records = new Map(Object.entries(answer.records));
    const leases = new Map(Object.entries(answer.leases));
    return { ...answer, leases, records: read.map((name) => records.get(name)) };
  }

  async compareAndSet({ incarnation, until, writes }: CasRequest): Promise<readonly (number | undefined)[]> {
    const written = await this.#call<Readonly<Record<string, number>>>('compare_and_set', [
      incarnation,
      until,
      writes.map(({ name }) => name),
      writes.map(({ ifRevision }) => ifRevision),
      writes.map(({ value }) => value),
      writes.map(({ forgetAfterMs }) => forgetAfterMs),
    ]);
    const revisions = new Map(Object.entries(written));
    return writes.map(({ name }) => {
      const revision = revisions.get(name);
      // of two writes with one name only the first was tried
      revisions.delete(name);
      return revision;
    });
  }

  async publish(names: readonly string[] | '*'): Promise<void> {
    await (this.#subscription?.connection ?? this.#requests).run('publish', hint(this.#channel, names));
  }

  addListener(listener: StoreListener): () => void {
    return this.#listeners.add(listener);
  }

  open(): void {
    this.#requests.open();
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    await Promise.all([this.#requests.close(), this.#subscription?.stop()]);
  }

  async #call<T>(step: string, values: readonly unknown[]): Promise<T> {
    const all = [this.options.projectName, ...values];
    const text = `SELECT "${this.#schema}".${step}_1(${all.map((_value, index) => `$${index + 1}`).join(', ')}) AS answer`;
    return this.#requests.run(step, async (query) => {
      const ask = async (): Promise<T> => JSON.parse(String((await query(text, all))[0]?.['answer'])) as T;
      try {
        if (!this.#setsIsolation) return await ask();
      } catch (error: unknown) {
        if (sqlState(error) !== 'SJ001') throw error;
        // the role or the server has another level as its default
        this.#setsIsolation = true;
      }
      await query('BEGIN ISOLATION LEVEL READ COMMITTED');
      try {
        return await ask();
      } finally {
        // ends a transaction that failed, too
        await query('COMMIT');
      }
    });
  }

  #settings({ connection, readConnection, shortestLifeMs = 10_000 }: PostgresStoreOptions): ConnectionSettings {
    return {
      create: async () => newClient((await readConnection?.()) ?? connection, shortestLifeMs),
      toError: (error, step) => postgresError(error, { schema: this.#schema, role: this.#role, step }),
      silenceMs: Math.min(1_500, shortestLifeMs / 5),
      reconnectDelayMs: (failures) =>
        Math.min(50 * 2 ** failures, shortestLifeMs / 20, 1_000) * (0.5 + Math.random() / 2),
    };
  }
}
