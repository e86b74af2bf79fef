import { type EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { loadError, loadOnce } from '../client-package.js';

/** Options of a client of `pg`, with the same meaning. A type of our own: who uses Redis has no types of `pg`. */
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
  /**
   * How long it may take to connect, at most `lockExpiry`. Each answer of the server has a limit of its own.
   * @default `lockExpiry`
   */
  readonly connectionTimeoutMillis?: number | undefined;
  /** Milliseconds, from which the server ends a statement. */
  readonly statement_timeout?: number | false | undefined;
  /** Milliseconds, after which the client gives up a statement. */
  readonly query_timeout?: number | undefined;
  /** Milliseconds that a statement may wait for a lock. The statements of the library have a shorter limit. */
  readonly lock_timeout?: number | undefined;
  /** Milliseconds, from which the server ends a session in an idle transaction. */
  readonly idle_in_transaction_session_timeout?: number | undefined;
  /** For the server, such as `-c search_path=shop`. */
  readonly options?: string | undefined;
  /** The name of a character set. */
  readonly client_encoding?: string | undefined;
  /** @default 'postgres' */
  readonly sslnegotiation?: 'postgres' | 'direct' | undefined;
  /** Whether the password is bound to the TLS connection. @default false */
  readonly enableChannelBinding?: boolean | undefined;
  /** Makes the socket. */
  readonly stream?: unknown;
}

/** Where PostgreSQL is: a URL, or options or a pool of `pg`. */
export type PostgresConnectionOptions =
  | string
  | {
      /**
       * Of a pool only the options are used: the library opens its own connections, so that a busy pool costs no lead.
       */
      readonly postgres: PostgresConfig | { readonly options: object; connect(...args: never[]): unknown };
    };

export type Row = Readonly<Record<string, string | null>>;

/** The part of a client of `pg` that is used here. */
export interface PostgresClient extends EventEmitter {
  readonly host: string;
  readonly port: number;
  /** Those of its process on the server. Null: it has not connected. */
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: {
    readonly stream: { readonly bytesRead: number; readonly connecting?: boolean; destroy(): unknown };
  };
  connect(): Promise<unknown>;
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Row[] }>;
  end(): Promise<void>;
}

/** Creates a client that is not connected. The only place that loads `pg`. */
export async function newClient(connection: PostgresConnectionOptions, minTtlMs: number): Promise<PostgresClient> {
  const Client = await loadPg();
  const config = configOf(connection);
  const limitMs = Number(Reflect.get(config, 'connectionTimeoutMillis'));
  return new Client({
    ...config,
    // a session has a limit for each answer
    connectionTimeoutMillis: limitMs > 0 ? Math.min(limitMs, minTtlMs) : minTtlMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    // the only parameter of the start that a pooler lets pass
    application_name: 'nestjs-singleton-job',
    // the application may have set parsers of its own for the whole process
    types: { getTypeParser: () => String },
  });
}

const CANCEL_REQUEST = 80_877_102;
const CANCEL_TIMEOUT_MS = 1_000;

/**
 * Asks the server to end what it does for a client, by a connection of its own. A process that waits for a synchronous
 * standby does not notice that its client is gone, and keeps its row locks. The server sends no answer, and takes the
 * request without TLS too.
 */
export function cancelQuery({ host, port, processID, secretKey }: PostgresClient): void {
  const request = Buffer.alloc(16);
  for (const [index, field] of [request.length, CANCEL_REQUEST, processID ?? 0, secretKey ?? 0].entries())
    request.writeInt32BE(field, 4 * index);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => undefined);
  socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
  socket.unref().end(request);
}

type Constructor = new (config: object) => PostgresClient;

/** Loads `pg`. Rejects if it is not installed. */
export const loadPg = loadOnce(async () => {
  try {
    const module: object = await import('pg');
    return (Reflect.get(module, 'default') as { readonly Client: Constructor }).Client;
  } catch (error: unknown) {
    throw loadError('pg', error);
  }
});

function configOf(connection: PostgresConnectionOptions): object {
  if (typeof connection === 'string') return { connectionString: connection };
  const { postgres } = connection;
  const config = 'connect' in postgres ? postgres.options : postgres;
  const { password, ssl } = config as { readonly password?: unknown; readonly ssl?: unknown };
  // a pool hides these two from a spread
  return { ...config, password, ssl };
}
