import { type EventEmitter } from 'node:events';
import { type Duplex } from 'node:stream';
import { type TlsOptions } from 'node:tls';
import { loadError, loadOnce } from '../client-package.js';
import { type SqlValue } from '../sql/sql-session.js';

/** Options of a connection of `mysql2`, with the same meaning. A type of our own: who uses Redis has no `mysql2`. */
export interface MysqlConfig {
  /** A URL. Other fields overwrite what it says. Of its parameters only `ssl` and `socketPath` are used. */
  readonly uri?: string | undefined;
  /** Name or address of the server. @default 'localhost' */
  readonly host?: string | undefined;
  /** @default 3306 */
  readonly port?: number | undefined;
  /** Path of a socket, in place of host and port. */
  readonly socketPath?: string | undefined;
  /** Who connects. */
  readonly user?: string | undefined;
  /** A text. For one that changes, write `connection` as a function. */
  readonly password?: string | undefined;
  /** Where the tables are. Required. */
  readonly database?: string | undefined;
  /** As in `mysql2`: options of TLS, or the name of a profile such as `'Amazon RDS'`. @default no TLS */
  readonly ssl?: string | TlsOptions | undefined;
  /** How long it may take to connect. Each answer of the server has a limit of its own. @default 10_000 */
  readonly connectTimeout?: number | undefined;
}

/** Where MySQL or MariaDB is: a URL, or options of `mysql2`. */
export type MysqlConnectionOptions = string | { readonly mysql: MysqlConfig };

/** The part of a connection of `mysql2` that is used here. */
export interface MysqlClient extends EventEmitter {
  readonly config: { readonly host: string; readonly port: number; readonly socketPath?: string | undefined };
  readonly stream: Duplex & { readonly bytesRead: number };
  /** The statement with its values, escaped. */
  format(sql: string, values: readonly SqlValue[]): string;
  promise(): {
    connect(): Promise<unknown>;
    /** Of several statements: a list with the result of each. */
    query(sql: string): Promise<[object, unknown]>;
  };
  end(): unknown;
}

interface Mysql2 {
  createConnection(config: object): MysqlClient;
}

/** Loads `mysql2`. Rejects if it is not installed. */
export const loadMysql2 = loadOnce(async () => {
  try {
    const module: object = await import('mysql2');
    return Reflect.get(module, 'default') as Mysql2;
  } catch (error: unknown) {
    throw loadError('mysql2', error);
  }
});

/** Begins to connect. */
export async function newClient(connection: MysqlConnectionOptions): Promise<MysqlClient> {
  const mysql2 = await loadMysql2();
  const config: MysqlConfig = typeof connection === 'string' ? { uri: connection } : connection.mysql;
  const { uri } = config;
  return mysql2.createConnection({
    ...config,
    uri: uri && withOwnParameters(uri),
    multipleStatements: true,
    // the application may have chosen other forms of statements, texts, numbers and dates
    charset: 'utf8mb4',
    flags: undefined,
    queryFormat: undefined,
    supportBigNumbers: false,
    typeCast: true,
    rowsAsArray: false,
    nestTables: false,
    namedPlaceholders: false,
  });
}

/** A URL without parameters of other clients, of which `mysql2` warns, and those that change the forms of values. */
export function withOwnParameters(uri: string): string {
  const url = new URL(uri);
  for (const name of [...url.searchParams.keys()])
    if (!['ssl', 'socketPath'].includes(name)) url.searchParams.delete(name);
  return url.href;
}
