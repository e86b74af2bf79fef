import { isObject, listSome } from '../../base/text/describe-value.js';
import { publicPart } from '../../base/text/secrets.js';
import { kindOf } from '../../store/open-store.js';
import { pathOf } from '../../store/sqlite/path-of.js';
import { type ResolvedOptions } from '../resolve-options.js';

const MAX_SERVERS = 3;

/** Where the records are, for the log, without user, password and query. Undefined: there is no store. */
export function describeStore(options: Pick<ResolvedOptions, 'store' | 'connection'>): string | undefined {
  const { store, connection } = options;
  if (store !== undefined) return store === 'memory' ? store : 'a store of your own';
  if (connection === undefined) return undefined;
  if (typeof connection === 'string')
    return kindOf(connection) === 'SQLite' ? `sqlite:${pathOf(connection)}` : publicPart(connection);
  if ('postgres' in connection) return `PostgreSQL at ${describeServer(optionsOf(connection.postgres), 5432)}`;
  if ('mysql' in connection) return `MySQL at ${describeServer(connection.mysql, 3306)}`;
  const nodes: unknown = Reflect.get(connection, 'startupNodes') ?? Reflect.get(connection, 'nodes');
  if (Array.isArray(nodes)) return `Redis Cluster at ${describeServers(nodes)}`;
  const { sentinels, ...server } = optionsOf(connection);
  if (Array.isArray(sentinels)) return `Redis of Sentinel at ${describeServers(sentinels, 26379)}`;
  return `Redis at ${describeServer(server)}`;
}

/** A client and a pool keep the options that they were made with. */
function optionsOf(source: object): Readonly<Record<string, unknown>> {
  const options: unknown = Reflect.get(source, 'options');
  return isObject(options) ? options : { ...source };
}

function describeServers(servers: readonly unknown[], defaultPort?: number): string {
  const shown = servers.map((server) => describeServer(server, defaultPort));
  return listSome(shown, MAX_SERVERS);
}

/** A server as the clients take it: a URL, a host, a port, or an object. */
function describeServer(server: unknown, defaultPort = 6379): string {
  const options = isObject(server) ? server : { port: server };
  const { host = 'localhost', port = defaultPort, path = `${String(host)}:${String(port)}` } = options;
  const { connectionString, uri = connectionString ?? server } = options;
  if (typeof uri !== 'string') return String(path);
  if (/^[\w.-]+$/.test(uri)) return uri;
  return publicPart(uri)?.replace(/^\w+:\/\/(…@)?/, '') ?? '…';
}
