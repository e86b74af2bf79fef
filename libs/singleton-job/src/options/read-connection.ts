import { type ClusterConnection, type RedisConnectionOptions } from '../store/index.js';
import { describeUrl, describeValue, isPlainObject, isRecord } from './describe-value.js';
import { OptionReader } from './option-reader.js';

const URL_FIX = "write it as 'redis://host:6379', or 'rediss://host:6379' for TLS";

const KINDS = 'a redis:// or rediss:// URL, options of ioredis, { nodes, options } of a cluster, or an ioredis client';

/** Options of clients other than ioredis. ioredis ignores them and connects to localhost. */
const FOREIGN_OPTIONS = {
  url: "pass the URL itself, as in connection: 'redis://host:6379'",
  socket: 'write host and port without it, as in connection: { host, port }',
  hostname: 'write host',
  database: 'write db',
};

const NO_KEY_PREFIX = 'is not supported: the keys begin with projectName, so set that instead';

/** Reads `connection`. No message repeats a text that may contain a password. */
export function readConnection(reader: OptionReader, problems: string[]): RedisConnectionOptions | undefined {
  const connection = reader.get('connection');
  if (connection === undefined) return undefined;
  if (typeof connection === 'string') checkUrl(reader, connection);
  else if (isRedisClient(connection)) checkClient(reader, connection);
  else if (isClusterConnection(connection)) checkCluster(connection, problems);
  else if (!isRecord(connection)) reader.refuse('connection', KINDS, URL_FIX);
  else if (isForeign(connection)) reader.refuse('connection', KINDS, 'pass a URL instead, or a client of ioredis');
  else checkServer(new OptionReader(connection, 'connection.', problems));
  return copy(connection) as RedisConnectionOptions;
}

function checkUrl(reader: OptionReader, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const got = describeValue(describeUrl(text));
  const reserved = unencoded(text, url);
  if (reserved !== undefined) {
    const fix = `write it as ${encodeURIComponent(reserved)}, or encode user and password with encodeURIComponent()`;
    reader.note('connection', `must have no '${reserved}' before the '@', got ${got} with one: ${fix}`);
    return;
  }
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    reader.note('connection', `must be a redis:// or rediss:// URL, got ${got}: ${URL_FIX}`);
    return;
  }
  if (!/^\/?$|^\/\d+$/.test(url.pathname)) {
    const fix = "write it as in 'redis://host:6379/0', or leave it out";
    reader.note('connection', `must end in the number of a database or in nothing, got ${got}: ${fix}`);
  }
  if (url.searchParams.has('keyPrefix')) reader.note('connection', `?keyPrefix ${NO_KEY_PREFIX}`);
}

/** A character that ends the user and password of a Redis URL too early, or cannot be decoded. Undefined: there is none. */
function unencoded(text: string, url: URL | undefined): string | undefined {
  const [, credentials] = /^rediss?:\/\/(.*)@/s.exec(text) ?? [];
  if (credentials === undefined) return undefined;
  if (/%(?![\da-f]{2})/i.test(credentials)) return '%';
  // an @ in the query of a valid URL does not mean a password
  const isCut = url === undefined || url.hash !== '' || url.pathname.includes('@');
  return isCut ? /[#/?]/.exec(credentials)?.[0] : undefined;
}

function checkClient(reader: OptionReader, client: object): void {
  const options: unknown = Reflect.get(client, 'options');
  const prefixed = hasKeyPrefix(options) || (isRecord(options) && hasKeyPrefix(options['redisOptions']));
  if (prefixed) reader.note('connection', `with a keyPrefix ${NO_KEY_PREFIX}`);
}

function checkCluster(connection: object, problems: string[]): void {
  const reader = new OptionReader(connection, 'connection.', problems);
  const nodes = reader.get('nodes');
  if (!Array.isArray(nodes) || nodes.length === 0 || !nodes.every(isNode)) {
    const fix = "write it as [{ host: 'redis-0', port: 6379 }]";
    reader.note('nodes', `must be a list of at least one node, each a URL, a port or { host, port }: ${fix}`);
  }
  reader.refuseUnknown(['nodes', 'options'], { keyPrefix: 'the keys begin with projectName, so set that instead' });
  const options = reader.get('options');
  if (options === undefined) return;
  if (!isRecord(options)) {
    reader.refuse('options', 'an object of cluster options of ioredis', 'see ClusterOptions of ioredis');
    return;
  }
  if (hasKeyPrefix(options)) reader.note('options.keyPrefix', NO_KEY_PREFIX);
  if (hasKeyPrefix(options['redisOptions'])) reader.note('options.redisOptions.keyPrefix', NO_KEY_PREFIX);
}

function checkServer(reader: OptionReader): void {
  if (hasKeyPrefix({ keyPrefix: reader.get('keyPrefix') })) reader.note('keyPrefix', NO_KEY_PREFIX);
  for (const [option, fix] of Object.entries(FOREIGN_OPTIONS)) {
    if (reader.get(option) !== undefined) reader.note(option, `is no option of ioredis: ${fix}`);
  }
  const sentinels = reader.get('sentinels');
  if (Array.isArray(sentinels) && !sentinels.every(isNode))
    reader.note('sentinels', "must each be { host, port }: write them as [{ host: 'sentinel-0', port: 26379 }]");
  if (isUrlLike(reader.get('host'))) {
    reader.note('host', "must be a name or an address, got a URL: pass it as connection: 'redis://host:6379'");
  } else {
    reader.checked('host', (host): host is string => typeof host === 'string' && host !== '', {
      expected: 'the name or address of a host',
      fix: "give it a value such as 'localhost', or leave it out",
    });
  }
  reader.checked('port', isPort, {
    expected: 'a port from 1 to 65535',
    fix: 'give it a value such as 6379, or leave it out; Number(undefined) is NaN',
  });
}

function isPort(value: unknown): value is number | string {
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;
}

function isNode(node: unknown): boolean {
  if (typeof node === 'string')
    return node !== '' && unencoded(node, URL.canParse(node) ? new URL(node) : undefined) === undefined;
  return typeof node === 'number' || (isRecord(node) && !isUrlLike(node['host']));
}

/** A URL in the place of a host: the log would show its password. */
function isUrlLike(host: unknown): boolean {
  return typeof host === 'string' && /[/@]/.test(host);
}

function hasKeyPrefix(options: unknown): boolean {
  if (!isRecord(options)) return false;
  const prefix = options['keyPrefix'];
  return prefix !== undefined && prefix !== null && prefix !== '';
}

/** Whether it is an ioredis client. Recognised by its shape: two copies of ioredis may be installed. */
function isRedisClient(connection: unknown): connection is object {
  return (
    typeof connection === 'object' &&
    connection !== null &&
    hasMethods(connection, ['duplicate', 'connect', 'disconnect']) &&
    typeof Reflect.get(connection, 'status') === 'string'
  );
}

/** The nodes of a cluster, as opposed to the options of one server. */
function isClusterConnection(connection: unknown): connection is ClusterConnection {
  return typeof connection === 'object' && connection !== null && 'nodes' in connection && !isRedisClient(connection);
}

function hasMethods(value: object, methods: readonly string[]): boolean {
  return methods.every((method) => typeof Reflect.get(value, method) === 'function');
}

/** A client of another library, or a parsed URL. */
function isForeign(connection: object): boolean {
  return connection instanceof URL || typeof Reflect.get(connection, 'connect') === 'function';
}

/** A frozen copy of lists and plain objects; everything else (clients, buffers, functions) is kept as it is. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(copy));
  if (!isPlainObject(value)) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, copy(entry)])));
}
