import { createHash, randomUUID } from 'node:crypto';
import { type StoreError } from '../../base/errors/store.error.js';
import { type SessionParts } from '../connection.js';
import { CHECK_EVERY_MS, HintingStore } from '../hinting-store.js';
import { namesIn } from '../hints.js';
import { type ServerStoreOptions } from '../server-store.js';
import { misconfigured } from '../store-errors.js';
import { type CasRequest, type StoredRecord, type SyncRequest, type SyncResult } from '../store.js';
import { newClient, type PostgresConnectionOptions } from './postgres-client.js';
import { postgresError } from './postgres-errors.js';
import { PostgresSession, type Prepare } from './postgres-session.js';
import { type ServerState, prepareServer } from './prepare-server.js';

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

const MAX_NOTIFY_MS = 250;

const BY_POOLER =
  'a pooler in transaction mode accepts LISTEN and delivers nothing: connect to the server itself, or to a pooler in session mode';

/** Leases and records in PostgreSQL 13 or later. */
export class PostgresStore extends HintingStore<PostgresStoreOptions, PostgresSession> {
  readonly name = 'PostgreSQL';
  readonly #schema = this.options.schema ?? 'singleton_job';
  readonly #channel = channelOf(`${this.#schema}:${this.options.projectName}`);
  /** For a notification to this store. */
  readonly #ownChannel = `singleton_job_${randomUUID()}`;
  #arrived: () => void = () => undefined;
  #server: ServerState | undefined;

  protected async sendSync({ isNewcomer, renew, grant, revoke, read }: SyncRequest): Promise<SyncResult> {
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
      writes.map(({ forgetAfterMs = -1 }) => forgetAfterMs),
    ]);
    const revisions = new Map(Object.entries(written));
    return writes.map(({ name }) => revisions.get(name));
  }

  protected newSession(parts: SessionParts): Promise<PostgresSession> {
    return this.#sessionOf(parts, async ({ query }) => {
      this.#server = await prepareServer(query, this.#schema, this.options.migrate ?? true);
    });
  }

  protected newSubscriber(parts: SessionParts): Promise<PostgresSession> {
    return this.#sessionOf(parts, async ({ client, query }) => {
      client.on('notification', ({ channel, payload = '' }: Partial<Record<'channel' | 'payload', string>>) => {
        if (channel === this.#ownChannel) this.#arrived();
        else this.listeners.each((listener) => listener.hint?.(namesIn(payload)));
      });
      for (const channel of [this.#channel, this.#ownChannel]) await query(`LISTEN "${channel}"`);
    });
  }

  /**
   * A pooler may accept LISTEN and deliver nothing. So the connection for requests sends a notification to this one.
   */
  protected async hintsArrive({ query }: PostgresSession): Promise<boolean> {
    const { session } = this.requests;
    if (session === undefined) return false;
    const arrived = new Promise<boolean>((resolve) => {
      const limit = setTimeout(resolve, CHECK_EVERY_MS, false).unref();
      this.#arrived = () => {
        clearTimeout(limit);
        resolve(true);
      };
    });
    // not as a request: its answer ends no series of time-outs
    await this.#notify(session, this.#ownChannel, '');
    if (await arrived) return true;
    // replaces a connection that is dead; what a pooler delivers meanwhile is not the next notification
    await query('SELECT 1');
    throw misconfigured(BY_POOLER);
  }

  /** On the connection that listens: what waits there delays no other request. */
  protected sendMessage(text: string): Promise<unknown> {
    const connection = this.hints?.session === undefined ? this.requests : this.hints;
    return connection.send('publish', (session) => this.#notify(session, this.#channel, text));
  }

  /**
   * The commit of a notification holds a lock of the whole server. So it does not wait for a standby, and not for long
   * where another application holds that lock: that server is not silent.
   */
  #notify({ query }: PostgresSession, channel: string, text: string): Promise<unknown> {
    const limit = `${Math.ceil(Math.min(MAX_NOTIFY_MS, this.answerTimeoutMs() / 2))}ms`;
    const settings = "set_config('synchronous_commit', 'off', true), set_config('lock_timeout', $3, true)";
    return query(`SELECT ${settings}, pg_notify($1, $2)`, [channel, text, limit]);
  }

  protected toError(error: unknown, request?: string): StoreError {
    return postgresError(error, this.#schema, this.#server?.role, request);
  }

  async #sessionOf(parts: SessionParts, prepare: Prepare): Promise<PostgresSession> {
    const client = await newClient(await this.source(), this.minTtlMs);
    return new PostgresSession(client, parts, prepare);
  }

  async #call<T>(step: string, values: readonly unknown[]): Promise<T> {
    const all = [this.options.projectName, ...values];
    const text = `SELECT "${this.#schema}".${step}_1(${all.map((_value, index) => `$${index + 1}`).join(', ')}) AS answer`;
    const rows = await this.requests.send(step, async ({ query }) => {
      if (this.#server?.level.startsWith('read') === true) return query(text, all);
      // The role or the server has another level as its default. No other statement comes between, and COMMIT ends a
      // transaction that failed, too. Each leaves when the one before it is answered: three round trips. If this
      // process stalls meanwhile, the server ends the session before another replica may need its row locks.
      const limit = `SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(2 * this.answerTimeoutMs())}`;
      const begin = `BEGIN ISOLATION LEVEL READ COMMITTED; ${limit}`;
      const [, answer] = await Promise.all([query(begin), query(text, all), query('COMMIT')]);
      return answer;
    });
    return JSON.parse(String(rows[0]?.['answer'])) as T;
  }
}

/** A channel is a name, of at most 63 bytes. */
function channelOf(name: string): string {
  return `singleton_job_${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}
