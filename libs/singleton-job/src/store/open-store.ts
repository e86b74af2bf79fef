import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { loadMysql2, type MysqlConnectionOptions } from './mysql/mysql-client.js';
import { MysqlStore, type MysqlStoreOptions } from './mysql/mysql-store.js';
import { loadPg, type PostgresConnectionOptions } from './postgres/postgres-client.js';
import { PostgresStore, type PostgresStoreOptions } from './postgres/postgres-store.js';
import { loadIoredis, type RedisConnectionOptions } from './redis/redis-clients.js';
import { RedisStore, type RedisStoreOptions } from './redis/redis-store.js';
import { type ServerStoreOptions } from './server-store.js';
import { loadSqlite } from './sqlite/sqlite-file.js';
import { SqliteStore, type SqliteStoreOptions } from './sqlite/sqlite-store.js';
import { type Store } from './store.js';

/** Where the leases and records are: Redis, PostgreSQL, MySQL, or a file of SQLite, as in `'sqlite:./jobs.db'`. */
export type ConnectionOptions = RedisConnectionOptions | PostgresConnectionOptions | MysqlConnectionOptions;

/** Reads the connection anew: its password may have changed. What it returns is of the same kind each time. */
export type ReadConnection = () => Promise<ConnectionOptions>;

/** What each store needs. Only PostgreSQL has a schema, and Redis and SQLite have no migrations. */
export type StoreOptions = ServerStoreOptions<ConnectionOptions> & Pick<PostgresStoreOptions, 'schema' | 'migrate'>;

/** What this is a connection to. */
export function kindOf(connection: ConnectionOptions): 'Redis' | 'PostgreSQL' | 'MySQL' | 'SQLite' {
  const is = (scheme: RegExp, key: string): boolean =>
    typeof connection === 'string' ? scheme.test(connection) : key in connection;
  if (is(/^postgres(ql)?:/i, 'postgres')) return 'PostgreSQL';
  if (is(/^(mysql|mariadb):/i, 'mysql')) return 'MySQL';
  return is(/^sqlite:/i, '') ? 'SQLite' : 'Redis';
}

/**
 * The store of a connection. Only the client that it needs is loaded.
 *
 * @throws InvalidOptionsError if that client is not there
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  // what reads the connection anew returns the same kind
  switch (kindOf(options.connection)) {
    case 'PostgreSQL':
      await loadPg();
      return new PostgresStore(options as PostgresStoreOptions);
    case 'MySQL':
      await loadMysql2();
      return new MysqlStore(options as MysqlStoreOptions);
    case 'SQLite':
      await loadSqlite().catch((cause: unknown) => {
        const problem = `connection to SQLite needs Node 22.13 or later, got ${process.version}: use that, or a server`;
        throw new InvalidOptionsError([problem], { cause });
      });
      return new SqliteStore(options as SqliteStoreOptions);
    case 'Redis':
      await loadIoredis();
      return new RedisStore(options as RedisStoreOptions);
  }
}
