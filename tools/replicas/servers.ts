import { PostgresServer } from './postgres/postgres-server.js';
import { RedisServer } from './redis/index.js';

/** A server of its own that replicas lead by: it can be hung, and ends with this process. */
export interface OwnServer extends AsyncDisposable {
  /** What `connection` of the library takes. */
  readonly url: string;
  /** Which server this is, for one line of a log. */
  readonly source: string;
  /** Hangs it: connections stay open, and nothing is answered until `resume()`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Shuts it down; `up()` starts it again on the same port. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

/** The kinds of servers that programs such as the demo can start, by the name of their flag. */
export const SERVERS = {
  redis: () => RedisServer.start(),
  postgres: () => PostgresServer.start(),
} satisfies Readonly<Record<string, () => Promise<OwnServer>>>;

export type ServerKind = keyof typeof SERVERS;
export const SERVER_KINDS = Object.keys(SERVERS) as ServerKind[];
