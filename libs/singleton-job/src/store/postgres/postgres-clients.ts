import { type EventEmitter } from 'node:events';

/** Options of a client of `pg`. It has many more than these. */
export interface PostgresConfig {
  /** A URL, in place of the other fields. */
  readonly connectionString?: string | undefined;
  /** Name or address of the server. @default 'localhost' */
  readonly host?: string | undefined;
  /** @default 5432 */
  readonly port?: number | undefined;
  /** @default the name of the user */
  readonly database?: string | undefined;
  /** The role. */
  readonly user?: string | undefined;
  /** A text. For one that changes, write `connection` as a function. */
  readonly password?: string | undefined;
  /** As in `pg`: `true`, or options of TLS. @default no TLS */
  readonly ssl?: unknown;
}

/** A `Pool` of `pg`. Only its options are used: the library opens its own connections, so that a busy pool costs no lead. */
export interface PostgresPool {
  /** Those of its clients. */
  readonly options: object;
  /** Tells a pool from options. */
  connect(...args: never[]): unknown;
}

/** Where PostgreSQL is: a URL, or options or a pool of `pg`. */
export type PostgresConnectionOptions = string | { readonly postgres: PostgresConfig | PostgresPool };

export type ReadPostgresConnection = () => Promise<PostgresConnectionOptions>;

export type Row = Readonly<Record<string, unknown>>;

/** The part of a client of `pg` that is used here. */
export interface PostgresClient extends EventEmitter {
  readonly connection: {
    readonly stream: { readonly bytesRead: number; readonly connecting: boolean; destroy(error?: Error): unknown };
  };
  connect(): Promise<unknown>;
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Row[] }>;
  end(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 1_000;

/** Creates clients that are not connected. The only place that loads `pg`. */
export async function postgresClient(connection: PostgresConnectionOptions): Promise<PostgresClient> {
  const Client = await loadClient();
  return new Client({
    ...configOf(connection),
    // the only option of the start that a pooler lets pass
    application_name: 'nestjs-singleton-job',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
}

type Constructor = new (config: object) => PostgresClient;
let loaded: Promise<Constructor> | undefined;

/** Loads `pg`, once. Rejects if it is not installed. */
export function loadClient(): Promise<Constructor> {
  // not into a bundle: most applications do not have it
  loaded ??= import(/* webpackIgnore: true */ 'pg').then(
    (pg: object) => (Reflect.get(pg, 'default') as { readonly Client: Constructor }).Client,
  );
  return loaded;
}

function configOf(connection: PostgresConnectionOptions): object {
  if (typeof connection === 'string') return { connectionString: connection };
  const { postgres } = connection;
  const config = isPool(postgres) ? postgres.options : postgres;
  // a pool hides these two from a spread
  return {
    ...config,
    password: Reflect.get(config, 'password') as unknown,
    ssl: Reflect.get(config, 'ssl') as unknown,
  };
}

export function isPool(postgres: PostgresConfig | PostgresPool): postgres is PostgresPool {
  return typeof Reflect.get(postgres, 'connect') === 'function';
}
