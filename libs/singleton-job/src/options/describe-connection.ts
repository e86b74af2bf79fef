import { type ConnectionOptions, isPostgres } from '../store/open-store.js';
import { describeUrl, isRecord, listSome } from '../base/text/describe-value.js';
import { type ResolvedOptions } from './resolve-options.js';

const MOST_NODES = 3;

/** Where the locks are, for the log, without user, password and query. Undefined: nothing is locked. */
export function describeStore({
  store,
  connection,
}: Pick<ResolvedOptions, 'store' | 'connection'>): string | undefined {
  if (store === 'memory') return 'memory';
  if (store !== undefined) return 'a store of your own';
  return connection === undefined ? undefined : describeConnection(connection);
}

function describeConnection(connection: ConnectionOptions): string {
  if (typeof connection === 'string') return describeUrl(connection);
  if (isPostgres(connection)) return describePostgres(connection.postgres);
  // a client of a cluster keeps the nodes that it was made with, and one of a server its options
  const nodes: unknown = Reflect.get(connection, 'startupNodes') ?? Reflect.get(connection, 'nodes');
  if (Array.isArray(nodes)) return `Redis Cluster ${describeNodes(nodes)}`;
  const options: unknown = Reflect.get(connection, 'options');
  return describeServer(isRecord(options) ? options : (connection as Record<string, unknown>));
}

/** Options of `pg`, or a pool with them. */
function describePostgres(postgres: object): string {
  const options: unknown = Reflect.get(postgres, 'options');
  const { connectionString, host, port, database } = (isRecord(options) ? options : postgres) as Record<
    string,
    unknown
  >;
  if (typeof connectionString === 'string') return describeUrl(connectionString);
  return `postgresql://${textOf(host, 'localhost')}:${textOf(port, '5432')}/${textOf(database, '')}`;
}

function describeServer(options: Record<string, unknown>): string {
  const { db, path, tls, sentinels, name } = options;
  if (Array.isArray(sentinels)) return `Redis '${textOf(name, '')}' of Sentinel ${describeNodes(sentinels, '26379')}`;
  if (typeof path === 'string') return `Redis at ${path}`;
  const database = textOf(db, '0');
  return `${isRecord(tls) ? 'rediss' : 'redis'}://${describeNode(options)}${database === '0' ? '' : `/${database}`}`;
}

function describeNodes(nodes: readonly unknown[], defaultPort?: string): string {
  const shown = nodes.map((node) => describeNode(node, defaultPort));
  return listSome(shown, MOST_NODES);
}

/** A server as ioredis takes it: a URL, a port, or an object. */
function describeNode(node: unknown, defaultPort = '6379'): string {
  if (isRecord(node)) {
    const host = textOf(node['host'], 'localhost');
    return `${host.includes(':') ? `[${host}]` : host}:${textOf(node['port'], defaultPort)}`;
  }
  if (typeof node === 'number') return `localhost:${node}`;
  const text = textOf(node, '');
  const url = text.includes('://') ? text : `redis://${text}`;
  if (!URL.canParse(url)) return 'a node that cannot be read';
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || defaultPort}`;
}

function textOf(value: unknown, fallback: string): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : fallback;
}
