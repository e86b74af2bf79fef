import { messageOf } from '../base/errors/message-of.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { type PostgresConnectionOptions } from './postgres/postgres-client.js';
import { type PostgresStoreOptions } from './postgres/postgres-store.js';
import { type RedisConnectionOptions } from './redis/redis-clients.js';
import { type RedisStoreOptions } from './redis/redis-store.js';
import { type ServerStoreOptions } from './server-store.js';
import { type Store } from './store.js';

/** Where the leases and records are: a Redis or a PostgreSQL. */
export type ConnectionOptions = RedisConnectionOptions | PostgresConnectionOptions;

/** Reads the connection anew: its password may have changed. What it returns is of the same kind each time. */
export type ReadConnection = () => Promise<ConnectionOptions>;

/** What either store needs. Redis has no schema. */
export type StoreOptions = ServerStoreOptions<ConnectionOptions> & Pick<PostgresStoreOptions, 'schema' | 'migrate'>;

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
export async function openStore(options: StoreOptions): Promise<Store> {
  // what reads the connection anew returns the same kind
  if (isPostgres(options.connection)) {
    const { PostgresStore } = await import('./postgres/postgres-store.js');
    const { loadClient } = await import('./postgres/postgres-client.js');
    await loadClient().catch(explainMissing('pg'));
    return new PostgresStore(options as PostgresStoreOptions);
  }
  const { RedisStore } = await import('./redis/redis-store.js').catch(explainMissing('ioredis'));
  return new RedisStore(options as RedisStoreOptions);
}

function explainMissing(name: string): (error: unknown) => never {
  return (error) => {
    if (!new RegExp(`Cannot find (package|module) '${name}'`).test(messageOf(error))) throw error;
    const problem = `connection needs the package '${name}', which is not installed: run npm install ${name}`;
    throw new InvalidOptionsError([problem], { cause: error });
  };
}
