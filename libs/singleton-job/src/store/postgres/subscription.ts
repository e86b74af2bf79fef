import { randomUUID } from 'node:crypto';
import { hintText, messagesMissing, namesIn } from '../hints.js';
import { type Listeners } from '../listeners.js';
import { type PostgresClient } from './postgres-client.js';
import { type ConnectionSettings, PostgresConnection, type Query } from './postgres-connection.js';

/** How often to check that messages arrive. */
const CHECK_EVERY_MS = 3_000;

const BY_POOLER =
  'a pooler in transaction mode accepts LISTEN and delivers nothing: connect to the server itself, or to a pooler in session mode';

/**
 * Receives hints on a connection of its own. A pooler may accept LISTEN and deliver nothing. So another connection sends a notification to
 * this one every 3 s, and it counts as listening only while they arrive.
 */
export class PostgresSubscription {
  readonly #ownChannel = `singleton_job_${randomUUID()}`;
  #connection: PostgresConnection | undefined;
  #isListening = false;
  #hasArrived = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly channel: string,
    private readonly settings: ConnectionSettings,
    private readonly other: PostgresConnection,
    private readonly listeners: Listeners,
  ) {}

  /** Messages leave on the connection that listens: what waits there delays no other request. Undefined: it does not listen. */
  get connection(): PostgresConnection | undefined {
    return this.#isListening ? this.#connection : undefined;
  }

  start(): void {
    const connection = new PostgresConnection(this.settings, {
      prepare: (query, client) => this.#listen(query, client),
      onReady: () => void this.#check(connection),
      onLost: (error) => {
        clearTimeout(this.#timer);
        this.#report(false);
        if (error.code !== 'STORE_UNREACHABLE') this.#warn(error.message);
      },
    });
    this.#connection = connection;
    connection.open();
  }

  async stop(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    clearTimeout(this.#timer);
    this.#report(false);
    await connection?.close();
  }

  async #listen(query: Query, client: PostgresClient): Promise<void> {
    const connection = this.#connection;
    client.on('notification', ({ channel, payload = '' }: { readonly channel: string; readonly payload?: string }) => {
      if (connection !== this.#connection) return;
      if (channel === this.#ownChannel) {
        this.#hasArrived = true;
        this.#report(true);
      } else {
        this.listeners.each((listener) => listener.hint?.(namesIn(payload)));
      }
    });
    for (const channel of [this.channel, this.#ownChannel]) await query(`LISTEN "${channel}"`);
  }

  async #check(connection: PostgresConnection): Promise<void> {
    this.#hasArrived = false;
    const sent = this.other.run('check', notify(this.#ownChannel, '')).then(() => true);
    const wasSent = await sent.catch(() => false);
    clearTimeout(this.#timer);
    if (connection !== this.#connection) return;
    this.#timer = setTimeout(() => void this.#look(connection, wasSent), CHECK_EVERY_MS).unref();
  }

  /** A pooler delivers what arrives while a statement is under way on this connection. So the next notification leaves after it. */
  async #look(connection: PostgresConnection, wasSent: boolean): Promise<void> {
    if (!this.#hasArrived) await this.#miss(connection, wasSent);
    await this.#check(connection);
  }

  async #miss(connection: PostgresConnection, wasSent: boolean): Promise<void> {
    this.#report(false);
    if (!wasSent) return;
    // replaces a connection that is dead
    const isAnswered = connection.run('check', (query) => query('SELECT 1')).then(() => true);
    if (await isAnswered.catch(() => false)) this.#warn(BY_POOLER);
  }

  #report(isListening: boolean): void {
    this.#isListening = isListening;
    this.listeners.listening(isListening);
  }

  #warn(why: string): void {
    this.listeners.warn(messagesMissing('PostgreSQL', why));
  }
}

/** Sends a notification that says which records have changed. */
export function hint(channel: string, names: readonly string[] | '*'): (query: Query) => Promise<unknown> {
  return notify(channel, hintText(names));
}

/**
 * The commit of a notification holds a lock of the whole server. So it does not wait for a standby, and not for long where another
 * application holds that lock.
 */
function notify(channel: string, payload: string): (query: Query) => Promise<unknown> {
  const text = `SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '250ms', true), pg_notify($1, $2)`;
  return (query) => query(text, [channel, payload]);
}
