import { PostgresServer } from './postgres-server.js';
import { RedisServer } from './redis-server.js';
import { type OwnServer } from './own-server.js';

/** The kinds of servers that programs such as the demo can start, by the name of their flag. */
export const SERVERS = {
  redis: () => RedisServer.start(),
  postgres: () => PostgresServer.start(),
} satisfies Readonly<Record<string, () => Promise<OwnServer>>>;

export type ServerKind = keyof typeof SERVERS;
export const SERVER_KINDS = Object.keys(SERVERS) as ServerKind[];
