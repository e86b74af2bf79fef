import { type Session, type SessionParts } from '../connection.js';
import { type Address } from '../first-answer.js';
import { watchConnect, watchSilence } from '../silence-watchdog.js';
import { cancelQuery, type PostgresClient, type Row } from './postgres-client.js';
import { sqlState } from './postgres-errors.js';

export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** Sends what comes before anything else. */
export type Prepare = (session: PostgresSession) => Promise<void>;

/** How long the server may take to say goodbye. */
const END_MS = 100;

/**
 * What ends a session: it is not an answer of the server, or a new one may find that changed: the server is a standby,
 * the schema is gone, or the isolation level is another.
 */
const ENDS_SESSION = /^(|55000|42P01|3F000|42883|SJ001)$/;

/** One client of `pg`, from its connection to its end. */
export class PostgresSession implements Session {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly client: PostgresClient,
    private readonly parts: SessionParts,
    private readonly prepare: Prepare,
  ) {
    client.on('error', parts.lost);
  }

  get address(): Address | undefined {
    const { host, port } = this.client;
    // of a socket it is a path
    return /^[^/]/.test(host) ? { host, port } : undefined;
  }

  async connect(): Promise<void> {
    const { client, parts } = this;
    await watchConnect(client.connect(), client.connection.stream, parts);
    await this.prepare(this);
  }

  /**
   * Statements leave one after the other, in the order of the calls. A client has a queue of its own, but `pg` warns
   * who uses it.
   */
  readonly query: Query = (text, values) => {
    const answer = this.#last.then(() => this.#send(text, values));
    this.#last = answer.catch(() => undefined);
    return answer;
  };

  async end(): Promise<void> {
    const limit = setTimeout(() => this.client.connection.stream.destroy(), END_MS);
    await this.client.end().catch(() => undefined);
    clearTimeout(limit);
  }

  async #send(...[text, values]: Parameters<Query>): ReturnType<Query> {
    const { client, parts } = this;
    const silent = (error: Error): void => {
      cancelQuery(client);
      parts.lost(error);
    };
    const watched = { stream: () => client.connection.stream, answerTimeoutMs: parts.answerTimeoutMs, silent };
    try {
      return (await watchSilence(client.query(text, values), watched)).rows;
    } catch (error: unknown) {
      if (ENDS_SESSION.test(sqlState(error))) parts.lost(error);
      throw error;
    }
  }
}
