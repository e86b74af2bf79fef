import { isBuiltin } from 'node:module';
import { MysqlServer } from './mysql-server.js';
import { type OwnServer } from './own-server.js';
import { PostgresServer } from './postgres-server.js';
import { RedisServer } from './redis-server.js';
import { SqliteServer } from './sqlite-server.js';

/** The kinds of servers that programs such as the demo can start, by the name of their flag. */
export const SERVERS = {
  sqlite: () => SqliteServer.start(),
  redis: () => RedisServer.start(),
  postgres: () => PostgresServer.start(),
  mysql: () => MysqlServer.start(),
} satisfies Readonly<Record<string, () => Promise<OwnServer>>>;

export type ServerKind = keyof typeof SERVERS;
/** Those that this Node can use. */
export const SERVER_KINDS = (Object.keys(SERVERS) as ServerKind[]).filter(
  (kind) => kind !== 'sqlite' || isBuiltin('node:sqlite'),
);
