import { type StoreError } from '../../base/errors/store.error.js';
import { type SessionParts } from '../connection.js';
import { type ServerStoreOptions } from '../server-store.js';
import { type Send } from '../sql/sql-session.js';
import { SqlStore } from '../sql/sql-store.js';
import { misconfigured } from '../store-errors.js';
import { type MysqlConnectionOptions, newClient } from './mysql-client.js';
import { mysqlError } from './mysql-errors.js';
import { MysqlSession } from './mysql-session.js';
import { mysqlMigrations } from './mysql-tables.js';

export interface MysqlStoreOptions extends ServerStoreOptions<MysqlConnectionOptions> {
  /** Whether the store creates its tables. @default true */
  readonly migrate?: boolean | undefined;
}

/** What says which server answers: MySQL has the first, later versions of MariaDB the second. */
const IDENTITY = ['server_uuid', 'server_uid', 'hostname', 'server_id'];
/** Each must be 1, the second one where there is a binary log: else a crash loses what was confirmed. */
const FLUSHES = ['innodb_flush_log_at_trx_commit', 'sync_binlog'];

const OUR_TABLES = `SELECT table_name AS name FROM information_schema.tables
  WHERE table_schema = DATABASE() AND table_name IN ('singleton_job_incarnations', 'singleton_job_leases', 'singleton_job_records')`;

/** Leases and records in MySQL 8 or MariaDB 10.11, or later. It sends no messages. */
export class MysqlStore extends SqlStore<MysqlStoreOptions, MysqlSession> {
  readonly name = 'MySQL';

  protected async newSession(parts: SessionParts): Promise<MysqlSession> {
    const client = await newClient(await this.source());
    return new MysqlSession(client, parts, this.#prepare.bind(this));
  }

  protected toError(error: unknown, request?: string): StoreError {
    return mysqlError(error, request);
  }

  /** Checks the server, and creates the tables. Answers what tells this server from others. */
  async #prepare(send: Send): Promise<string> {
    const [rows = [], existing = []] = await send(
      ['SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)', [...IDENTITY, ...FLUSHES, 'log_bin']],
      [OUR_TABLES],
    );
    const variables = new Map(rows.map((row) => Object.values(row) as [name: string, value: string]));
    const flushes = variables.get('log_bin') === 'ON' ? FLUSHES : FLUSHES.slice(0, 1);
    const wrong = flushes.filter((name) => variables.get(name) !== '1').map((name) => `${name} = 1`);
    if (wrong.length > 0) {
      const message = `confirms what a crash of the server loses: set ${wrong.join(' and ')}, or two replicas can lead a job after it`;
      this.listeners.warn({ code: 'WRITES_CAN_BE_LOST', message });
    }
    const tables = mysqlMigrations();
    const isComplete = existing.length === tables.length;
    if (!isComplete && this.options.migrate === false)
      throw misconfigured('The tables are not complete: run the SQL of mysqlMigrations(), or drop migrate: false');
    if (!isComplete) await send(...tables.map((sql) => [sql] as const));
    const parts = IDENTITY.filter((name) => variables.has(name)).map((name) => `@@${name}`);
    return `CONCAT_WS('.', ${parts.join(', ')})`;
  }
}
