import { type ConnectionOptions, isPostgres } from '../store/open-store.js';
import { describeUrl, isObject, listSome } from '../base/text/describe-value.js';
import { type ResolvedOptions } from './resolve-options.js';

type Where = Pick<ResolvedOptions, 'store' | 'connection'>;
type Options = Readonly<Record<string, unknown>>;

const MOST_NODES = 3;

/** Where the locks are, for the log, without user, password and query. Undefined: nothing is locked. */
export function describeStore({ store, connection }: Where): string | undefined {
  if (store === 'memory') return 'memory';
  if (store !== undefined) return 'a store of your own';
  if (connection === undefined) return undefined;
  if (typeof connection === 'string') return describeUrl(connection);
  return isPostgres(connection) ? describePostgres(optionsOf(connection.postgres)) : describeRedis(connection);
}

/** A client and a pool keep the options that they were made with. */
function optionsOf(source: object): Options {
  const options: unknown = Reflect.get(source, 'options');
  return (isObject(options) ? options : source) as Options;
}

function describePostgres({ connectionString, host, port, database }: Options): string {
  if (typeof connectionString === 'string') return describeUrl(connectionString);
  return `postgresql://${textOf(host, 'localhost')}:${textOf(port, '5432')}/${textOf(database, '')}`;
}

function describeRedis(connection: ConnectionOptions & object): string {
  const nodes: unknown = Reflect.get(connection, 'startupNodes') ?? Reflect.get(connection, 'nodes');
  if (Array.isArray(nodes)) return `Redis Cluster ${describeNodes(nodes)}`;
  const options = optionsOf(connection);
  const { db, path, tls, sentinels, name } = options;
  if (Array.isArray(sentinels)) return `Redis '${textOf(name, '')}' of Sentinel ${describeNodes(sentinels, '26379')}`;
  if (typeof path === 'string') return `Redis at ${path}`;
  const database = textOf(db, '0');
  return `${isObject(tls) ? 'rediss' : 'redis'}://${describeNode(options)}${database === '0' ? '' : `/${database}`}`;
}

function describeNodes(nodes: readonly unknown[], defaultPort?: string): string {
  const shown = nodes.map((node) => describeNode(node, defaultPort));
  return listSome(shown, MOST_NODES);
}

/** A server as ioredis takes it: a URL, a port, or an object. */
function describeNode(node: unknown, defaultPort = '6379'): string {
  if (typeof node === 'string') return describeUrl(node).replace(/^\w+:\/\/(…@)?/, '');
  const { host, port } = isObject(node) ? node : { host: undefined, port: node };
  const name = textOf(host, 'localhost');
  return `${name.includes(':') ? `[${name}]` : name}:${textOf(port, defaultPort)}`;
}

function textOf(value: unknown, fallback: string): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : fallback;
}
