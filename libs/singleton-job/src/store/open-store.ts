import { messageOf } from '../base/errors/message-of.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type PostgresConnectionOptions } from './postgres/postgres-client.js';
import { type RedisConnectionOptions } from './redis/redis-clients.js';
import { type Store } from './store.js';

/** Where the leases and records are: a Redis or a PostgreSQL. */
export type ConnectionOptions = RedisConnectionOptions | PostgresConnectionOptions;

/** Reads the connection anew: its password may have changed. What it returns is of the same kind each time. */
export type ReadConnection = () => Promise<ConnectionOptions>;

/** What all stores on a server need. */
export interface StoreOptions {
  readonly projectName: string;
  readonly connection: ConnectionOptions;
  /** Called for each new client. @default every client has `connection` */
  readonly readConnection?: ReadConnection | undefined;
  /** For PostgreSQL. */
  readonly schema?: string | undefined;
  /** For PostgreSQL. */
  readonly migrate?: boolean | undefined;
  /** False: messages are not received. @default true */
  readonly subscribes?: boolean;
  /** The shortest `lockExpiry`: time limits of requests and connections follow it. */
  readonly shortestLifeMs: number;
}

/** Whether this is the connection of a PostgreSQL. */
export function isPostgres(connection: ConnectionOptions | undefined): connection is PostgresConnectionOptions {
  if (typeof connection === 'string') return /^postgres(ql)?:/i.test(connection);
  return typeof connection === 'object' && 'postgres' in connection;
}

/**
 * The store of a connection. Only the client that it needs is loaded.
 *
 * @throws InvalidOptionsError if that client is not installed
 */
export async function openStore({ connection, readConnection, ...options }: StoreOptions): Promise<Store> {
  if (isPostgres(connection)) {
    const { PostgresStore } = await import('./postgres/postgres-store.js');
    const { loadClient } = await import('./postgres/postgres-client.js');
    await loadClient().catch(explainMissing('pg'));
    const read = readConnection as (() => Promise<PostgresConnectionOptions>) | undefined;
    return new PostgresStore({ ...options, connection, readConnection: read });
  }
  const { RedisStore } = await import('./redis/redis-store.js').catch(explainMissing('ioredis'));
  const read = readConnection as (() => Promise<RedisConnectionOptions>) | undefined;
  return new RedisStore({ ...options, connection, readConnection: read });
}

function explainMissing(name: string): (error: unknown) => never {
  return (error) => {
    if (!new RegExp(`Cannot find (package|module) '${name}'`).test(messageOf(error))) throw error;
    const problem = `connection needs the package '${name}', which is not installed: run npm install ${name}`;
    throw new InvalidOptionsError([problem], { cause: error });
  };
}
