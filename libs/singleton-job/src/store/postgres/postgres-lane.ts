import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { reconnectDelayMs } from '../reconnect-delay.js';
import { ReportedLosses } from '../reported-losses.js';
import { SilenceWatchdog, SilentConnectionError } from '../silence-watchdog.js';
import { cancelQuery, type PostgresClient, type Row } from './postgres-clients.js';
import { isDemotion } from './postgres-errors.js';

export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** After so many silent connections in a row, the next one comes late: on the server each may have left a process with row locks. */
const MOST_SILENT = 3;
const SILENT_DELAY_MS = 5_000;

interface PostgresLaneOptions {
  /** Creates a client that is not connected yet. Called anew after a rejection. */
  readonly create: () => Promise<PostgresClient>;
  /** What to do on each new connection before anything else is sent on it. */
  readonly prepare?: (query: Query, client: PostgresClient) => Promise<void>;
  readonly onReady?: () => void;
  /**
   * The first attempt failed, or the connection ended. Called once more if `create` rejects at a later attempt, and if one shows that a
   * person must change something.
   */
  readonly onLost?: (error: LockStoreError) => void;
  readonly toError: (error: unknown, step?: string) => LockStoreError;
  /** In [0, 1). */
  readonly random: () => number;
}

/**
 * One connection, from `open()` to `close()`: it is replaced when it ends or falls silent. Requests leave one after the other. One that was
 * sent is never sent again.
 */
export class PostgresLane {
  readonly #options: PostgresLaneOptions;
  #client: PostgresClient | undefined;
  #isReady = false;
  #isOpen = false;
  readonly #reported = new ReportedLosses();
  #failures = 0;
  /** Connections that were closed for their silence since the last answer. */
  #silent = 0;
  #failure: LockStoreError | undefined;
  #retry: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #firstAttempt = Promise.resolve();
  #endFirstAttempt: () => void = () => undefined;

  constructor(options: PostgresLaneOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#firstAttempt = new Promise((resolve) => (this.#endFirstAttempt = resolve));
    void this.#connect();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#isReady = false;
    this.#endFirstAttempt();
    clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    const limit = setTimeout(() => client.connection.stream.destroy(), 100);
    await client.end().catch(() => undefined);
    clearTimeout(limit);
  }

  /** Closes the connection and connects anew. */
  drop(reason: unknown): void {
    const client = this.#client;
    if (client !== undefined) this.#lose(client, reason);
  }

  /** Right after `open()` it waits for the first attempt. Later it rejects at once if there is no connection. */
  async query(step: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    await this.#firstAttempt;
    const turn = this.#last;
    const answer = turn.then(() => this.#send(step, text, values));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #send(step: string, text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const client = this.#client;
    if (client === undefined || !this.#isReady) throw this.#notConnected();
    try {
      const { rows } = await client.query(text, values);
      this.#silent = 0;
      return rows;
    } catch (error: unknown) {
      if (isDemotion(error)) void this.#dropIfStandby(client, error);
      // the request says only that the connection ended; the connection knows why
      throw client === this.#client ? this.#options.toError(error, step) : this.#sentBefore(error, step);
    }
  }

  #sentBefore(error: unknown, step: string): LockStoreError {
    const { code, message, cause } = this.#failure ?? this.#options.toError(error, step);
    return new LockStoreError(code, message, { cause, wasSent: true });
  }

  #notConnected(): LockStoreError {
    if (!this.#isOpen) return new LockStoreError('STORE_UNREACHABLE', 'the lock store is closed', { wasSent: false });
    return this.#failure ?? this.#options.toError(new Error('no connection yet'));
  }

  /** A primary that takes no writes stays connected: another connection would find the same. */
  async #dropIfStandby(client: PostgresClient, error: unknown): Promise<void> {
    const answer = await client.query('SELECT pg_is_in_recovery() AS standby').catch(() => undefined);
    if (answer?.rows[0]?.['standby'] === true) this.#lose(client, error);
  }

  async #connect(): Promise<void> {
    let client: PostgresClient | undefined;
    try {
      client = await this.#options.create();
      if (!this.#isOpen) return;
      this.#client = client;
      this.#watch(client);
      await client.connect();
      await this.#options.prepare?.(async (text, values) => (await this.#sendOn(client, text, values)).rows, client);
    } catch (error: unknown) {
      this.#lose(client, error);
      return;
    }
    if (client !== this.#client) return;
    this.#failures = 0;
    this.#failure = undefined;
    this.#isReady = true;
    this.#reported.clear();
    this.#endFirstAttempt();
    this.#options.onReady?.();
  }

  #sendOn(
    client: PostgresClient | undefined,
    text: string,
    values?: readonly unknown[],
  ): ReturnType<PostgresClient['query']> {
    return client === undefined ? Promise.reject(this.#notConnected()) : client.query(text, values);
  }

  #watch(client: PostgresClient): void {
    const watchdog = new SilenceWatchdog({
      socket: () => client.connection.stream,
      close: (error) => {
        this.#lose(client, error);
      },
    });
    const send = client.query.bind(client);
    client.query = (text, values) => {
      const answer = send(text, values);
      watchdog.watch(answer);
      return answer;
    };
    let failure: unknown;
    client.on('error', (error: unknown) => {
      failure = error;
      this.#lose(client, error);
    });
    client.on('end', () => {
      this.#lose(client, failure ?? new Error('the connection was closed'));
    });
  }

  #lose(client: PostgresClient | undefined, reason: unknown): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#isReady = false;
    const error = this.#options.toError(reason);
    this.#failure = error;
    if (client !== undefined && reason instanceof SilentConnectionError) {
      this.#silent += 1;
      cancelQuery(client);
    }
    client?.connection.stream.destroy();
    this.#endFirstAttempt();
    if (!this.#isOpen) return;
    if (this.#reported.isNews(client, error.code === 'STORE_MISCONFIGURED')) this.#options.onLost?.(error);
    const delayMs = reconnectDelayMs(this.#failures++, this.#options.random);
    this.#retry = setTimeout(() => void this.#connect(), this.#silent < MOST_SILENT ? delayMs : SILENT_DELAY_MS);
  }
}
