import { LockStoreError } from '../../base/errors/lock-store.error.js';
import { showDuration } from '../../base/events/show-duration.js';
import { cancelQuery, type PostgresClient, type Row } from './postgres-client.js';
import { sqlState } from './postgres-errors.js';

export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

export interface ConnectionSettings {
  /** Creates a client that is not connected. Called for each attempt. */
  readonly create: () => Promise<PostgresClient>;
  /** `step` is what was sent. Undefined: there is no connection. */
  readonly toError: (error: unknown, step?: string) => LockStoreError;
  /** How long nothing may arrive while a request waits for its answer. */
  readonly silenceMs: number;
  /** How long to wait after so many failed attempts in a row. */
  readonly reconnectDelayMs: (failures: number) => number;
}

export interface ConnectionObserver {
  /** Sends what comes before anything else on a new connection. */
  readonly prepare: (query: Query, client: PostgresClient) => Promise<void>;
  readonly onReady: () => void;
  /** The connection ended, or an attempt failed. */
  readonly onLost: (error: LockStoreError) => void;
}

/** After so many time-outs in a row the next connection comes late: each may have left a process with row locks on the server. */
const MOST_TIMEOUTS = 3;
const TIMEOUT_DELAY_MS = 5_000;

/** What a new connection may find changed: the server is a standby, or the schema is gone. */
const STALE = /^(55000|42P01|3F000|42883)$/;

/** One connection, from `open()` to `close()`. It is replaced when it ends or falls silent. Requests leave one after the other. */
export class PostgresConnection {
  #state: 'new' | 'connecting' | 'ready' | 'closed' = 'new';
  #client: PostgresClient | undefined;
  /** Why there is no connection. */
  #failure: LockStoreError | undefined;
  #failures = 0;
  #timeouts = 0;
  #retry: NodeJS.Timeout | undefined;
  #endFirstAttempt: () => void = () => undefined;
  #last: Promise<unknown> = new Promise<void>((resolve) => (this.#endFirstAttempt = resolve));

  constructor(
    private readonly settings: ConnectionSettings,
    private readonly observer: ConnectionObserver,
  ) {}

  open(): void {
    if (this.#state !== 'new') return;
    this.#state = 'connecting';
    void this.#connect();
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#state = 'closed';
    this.#client = undefined;
    this.#failure = this.settings.toError(new Error('the store is closed'));
    this.#endFirstAttempt();
    clearTimeout(this.#retry);
    if (client === undefined) return;
    const limit = setTimeout(() => client.connection.stream.destroy(), 100);
    await client.end().catch(() => undefined);
    clearTimeout(limit);
  }

  /** Has the connection for itself while `task` runs. Waits for the end of the first attempt to connect. Later it needs a connection. */
  async run<T>(step: string, task: (query: Query) => Promise<T>): Promise<T> {
    if (this.#state === 'new') throw this.#notConnected();
    const answer = this.#last.then(() => this.#carryOut(step, task));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #carryOut<T>(step: string, task: (query: Query) => Promise<T>): Promise<T> {
    const client = this.#client;
    if (client === undefined || this.#state !== 'ready') throw this.#notConnected();
    try {
      const answer = await task((text, values) => this.#send(client, text, values));
      // a check says nothing of commits that wait for a standby
      if (step !== 'check') this.#timeouts = 0;
      return answer;
    } catch (error: unknown) {
      // the request knows only that the connection ended; the connection knows why
      const failure = client === this.#client ? this.settings.toError(error, step) : this.#notConnected();
      const state = sqlState(error);
      if (state === '' || STALE.test(state)) this.#lose(client, failure);
      const { code, message, cause } = failure;
      throw new LockStoreError(code, message, { cause, wasSent: true, affectsAllJobs: true });
    }
  }

  #notConnected(): LockStoreError {
    return this.#failure ?? this.settings.toError(new Error('no connection yet'));
  }

  async #connect(): Promise<void> {
    const client = await this.settings.create().catch((error: unknown) => {
      this.#lose(undefined, error);
    });
    if (client === undefined || this.#state === 'closed') return;
    const lose = (error: unknown): void => {
      this.#lose(client, error);
    };
    this.#client = client.on('error', lose);
    try {
      await client.connect();
      await this.observer.prepare((text, values) => this.#send(client, text, values), client);
    } catch (error: unknown) {
      lose(error);
    }
    if (client !== this.#client) return;
    this.#state = 'ready';
    this.#failures = 0;
    this.#failure = undefined;
    this.#endFirstAttempt();
    this.observer.onReady();
  }

  /** Replaces the connection if nothing arrives on it before there is an answer. */
  async #send(client: PostgresClient, text: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    if (client !== this.#client) throw this.#notConnected();
    const { stream } = client.connection;
    const { silenceMs } = this.settings;
    let timer: NodeJS.Timeout | undefined;
    let turn: NodeJS.Immediate | undefined;
    const watch = (): void => {
      const { bytesRead } = stream;
      const look = (): void => {
        if (stream.bytesRead === bytesRead) this.#timeOut(client, silenceMs);
        else watch();
      };
      // after a blocked event loop it reads once more before it looks
      timer = setTimeout(() => (turn = setImmediate(look)), silenceMs);
    };
    watch();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      clearTimeout(timer);
      clearImmediate(turn);
    }
  }

  #timeOut(client: PostgresClient, silenceMs: number): void {
    cancelQuery(client);
    this.#timeouts += 1;
    const delayMs = this.#timeouts < MOST_TIMEOUTS ? undefined : TIMEOUT_DELAY_MS;
    this.#lose(client, new Error(`no answer within ${showDuration(silenceMs)}`), delayMs);
  }

  #lose(client: PostgresClient | undefined, reason: unknown, delayMs?: number): void {
    if (client !== this.#client || this.#state === 'closed') return;
    this.#client = undefined;
    this.#state = 'connecting';
    this.#failure = this.settings.toError(reason);
    client?.connection.stream.destroy();
    this.#endFirstAttempt();
    const wait = delayMs ?? this.settings.reconnectDelayMs(this.#failures++);
    this.#retry = setTimeout(() => void this.#connect(), wait);
    this.observer.onLost(this.#failure);
  }
}
