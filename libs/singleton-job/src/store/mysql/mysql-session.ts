import { type SessionParts } from '../connection.js';
import { type Address } from '../first-answer.js';
import { watchConnect, watchSilence } from '../silence-watchdog.js';
import { type Dialect, type Row, type Send, SqlSession, type Statement } from '../sql/sql-session.js';
import { type MysqlClient } from './mysql-client.js';
import { codeOf } from './mysql-errors.js';

/** A dead-lock, a row that another replica has just inserted, and a commit that came too late. */
const CONFLICTS = [1213, 1062, 1690];
const LOCK_WAIT_TIMEOUT = 1205;
/** The server takes no writes: another one may have taken its place. Or a table is gone: a new session makes it. */
const ENDS_SESSION = [1290, 1792, 1836, 1146];

/**
 * A statement reads what is committed when it begins, and locks no rows that it does not find. A commit begins no other
 * transaction and ends no connection. Times are the same in each time zone. Texts are escaped as the client does it. No
 * limit leaves rows out.
 *
 * A statement that waits for a lock, of a row or of a table, ends before its client gives it up: MySQL does not notice
 * that a client is gone, and would keep a connection for each one.
 */
const SETTINGS: readonly Statement[] = [
  ['SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED'],
  ["SET SESSION time_zone = '+00:00', autocommit = 1, completion_type = 0, sql_mode = 'STRICT_ALL_TABLES'"],
  ['SET SESSION innodb_lock_wait_timeout = 1, lock_wait_timeout = 1'],
  [
    'SET SESSION sql_select_limit = 18446744073709551615, sql_safe_updates = 0, sql_auto_is_null = 0, sql_big_selects = 1',
  ],
];

/** An idle connection outside of a transaction may stay for as long as the server lets it, by default 8 h. */
const NO_LIMIT: Statement = ['SET SESSION wait_timeout = DEFAULT'];

/** How long the server may take to say goodbye. */
const END_MS = 100;

/** Of one statement. */
type Result = readonly Row[] | { readonly affectedRows: number };

/** One connection of `mysql2`, from its begin to its end. */
export class MysqlSession extends SqlSession {
  #server = "''";

  constructor(
    private readonly client: MysqlClient,
    parts: SessionParts,
    /** Checks the server, and makes the tables. Answers what tells this server from others, as SQL. */
    private readonly prepare: (send: Send) => Promise<string>,
  ) {
    super(parts);
    client.on('error', parts.lost);
  }

  get dialect(): Dialect {
    // A process that stalls in a transaction keeps its row locks until the server closes the connection. That comes
    // before another replica may need them, and its own next connection too.
    const stallLimitS = Math.ceil((2 * this.parts.answerTimeoutMs()) / 1_000);
    // not NOW(): that is the begin of the statement, which may have waited for a row
    const now = 'CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)';
    // an unsigned 0 - 1 is an error, and what comes after an error is not carried out
    const inTime = `SELECT CAST(0 AS UNSIGNED) - (${now} >= ?)`;
    return {
      begin: [[`SET SESSION wait_timeout = ${stallLimitS}`], ['START TRANSACTION']],
      commit: (until) => [...(until === undefined ? [] : [[inTime, until] as const]), ['COMMIT'], NO_LIMIT],
      rollback: [['ROLLBACK'], NO_LIMIT],
      now,
      server: this.#server,
      skipLocked: 'FOR UPDATE SKIP LOCKED',
      orUpdate: 'ON DUPLICATE KEY UPDATE',
      isLocked: (error) => codeOf(error) === LOCK_WAIT_TIMEOUT,
    };
  }

  get address(): Address | undefined {
    const { host, port, socketPath } = this.client.config;
    return socketPath ? undefined : { host, port };
  }

  async connect(): Promise<void> {
    await watchConnect(this.client.promise().connect(), this.client.stream, this.parts);
    await this.send(...SETTINGS);
    this.#server = await this.prepare(this.send);
  }

  end(): void {
    this.client.end();
    setTimeout(() => this.client.stream.destroy(new Error('the connection was closed')), END_MS).unref();
  }

  protected async sendAll(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    const { answerTimeoutMs, lost } = this.parts;
    try {
      // each with its own values
      const text = statements.map(([sql, ...values]) => this.client.format(sql, values)).join('; ');
      const answer = this.client.promise().query(text);
      const [result] = await watchSilence(answer, { stream: () => this.client.stream, answerTimeoutMs, silent: lost });
      const results = (statements.length === 1 ? [result] : result) as readonly Result[];
      return results.map((rows) => ('affectedRows' in rows ? [] : rows));
    } catch (error: unknown) {
      const code = codeOf(error);
      if (code === undefined || ENDS_SESSION.includes(code)) lost(error);
      throw error;
    }
  }

  protected isConflict(error: unknown): boolean {
    return CONFLICTS.includes(codeOf(error) ?? 0);
  }
}
