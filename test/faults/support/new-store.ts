import { MysqlStore, type MysqlStoreOptions } from '../../../libs/singleton-job/src/store/mysql/mysql-store.js';
import { kindOf, type StoreOptions } from '../../../libs/singleton-job/src/store/open-store.js';
import {
  PostgresStore,
  type PostgresStoreOptions,
} from '../../../libs/singleton-job/src/store/postgres/postgres-store.js';
import { RedisStore, type RedisStoreOptions } from '../../../libs/singleton-job/src/store/redis/redis-store.js';
import { type Store } from '../../../libs/singleton-job/src/store/store.js';

/** As `openStore`, whose imports jest refuses while another concurrent test ends. */
export function newStore(options: StoreOptions): Store {
  const kind = kindOf(options.connection);
  if (kind === 'MySQL') return new MysqlStore(options as MysqlStoreOptions);
  if (kind === 'PostgreSQL') return new PostgresStore(options as PostgresStoreOptions);
  return new RedisStore(options as RedisStoreOptions);
}
