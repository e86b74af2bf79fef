import { type ConnectionOptions, isPostgres } from '../store/open-store.js';
import { describeUrl, describeValue, isPlainObject, isRecord } from '../base/text/describe-value.js';
import { OptionReader, type Place, type Reader, readOption } from './option-reader.js';
import { checkPostgres, checkPostgresUrl } from './read-postgres.js';
import { matching, password } from './readers.js';

const URL_FIX =
  "write it as 'redis://host:6379', 'rediss://host:6379' for TLS, or 'postgresql://user:password@host/database'";

const KINDS =
  'a URL of Redis or PostgreSQL, options of ioredis, { nodes, options } of a cluster, an ioredis client, or { postgres }';

/** Options of other clients. ioredis ignores them and connects to localhost. */
const FOREIGN_OPTIONS = ['url', 'socket', 'hostname', 'database'];

const NO_KEY_PREFIX = 'is not supported: the keys begin with projectName, so set that instead';

const PASSWORD_FIX =
  'write connection itself as a function, which is called for each new client, ' +
  'as in connection: async () => ({ host, password: await token() })';

const readPassword = password(PASSWORD_FIX);

/** Reads `connection`. No message repeats a text that may contain a password. */
export const readConnection: Reader<ConnectionOptions> = (connection, at) => {
  if (typeof connection === 'string') checkUrl(connection, at);
  else if (isRedisClient(connection)) checkClient(connection, at);
  else if (!isRecord(connection)) return at.refuse(connection, KINDS, URL_FIX);
  else if ('postgres' in connection) checkPostgres(connection, at);
  else if ('nodes' in connection) checkCluster(connection, at);
  else if (isForeign(connection)) return at.refuse(connection, KINDS, 'pass a URL instead, or a client of ioredis');
  else checkServer(connection, at);
  return copy(connection) as ConnectionOptions;
};

function checkUrl(text: string, at: Place): void {
  if (isPostgres(text)) {
    checkPostgresUrl(text, at);
    return;
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const got = describeValue(describeUrl(text));
  if (isUnencoded(text, url)) {
    const fix = 'encode user and password with encodeURIComponent()';
    at.note(`must have no #, /, ? or single % before the '@', got ${got} with one: ${fix}`);
  } else if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '') {
    const fix = /^\w+sql:|^mongodb/.test(text) ? 'the locks can be in Redis or PostgreSQL only' : URL_FIX;
    at.note(`must be a redis://, rediss:// or postgresql:// URL, got ${got}: ${fix}`);
  } else {
    if (!/^\/?$|^\/\d+$/.test(url.pathname)) {
      const fix = "write it as in 'redis://host:6379/0', or leave it out";
      at.note(`must end in the number of a database or in nothing, got ${got}: ${fix}`);
    }
    if (url.searchParams.has('keyPrefix')) at.note(`?keyPrefix ${NO_KEY_PREFIX}`);
  }
}

/** Whether a character ends the user and password of a Redis URL too early, so that it names another host, or cannot be decoded. */
function isUnencoded(text: string, url = URL.canParse(text) ? new URL(text) : undefined): boolean {
  const [, credentials] = /^rediss?:\/\/(.*)@/s.exec(text) ?? [];
  if (credentials === undefined) return false;
  // an @ in the query of a valid URL does not mean a password
  const isCut = url === undefined || url.hash !== '' || url.pathname.includes('@');
  return /%(?![\da-f]{2})/i.test(credentials) || (isCut && /[#/?]/.test(credentials));
}

function checkClient(client: object, at: Place): void {
  const options: unknown = Reflect.get(client, 'options');
  const prefixed = hasKeyPrefix(options) || (isRecord(options) && hasKeyPrefix(options['redisOptions']));
  if (prefixed) at.note(`with a keyPrefix ${NO_KEY_PREFIX}`);
}

const NODES = matching(
  (value): value is readonly unknown[] => Array.isArray(value) && value.length > 0 && value.every(isNode),
  'a list of at least one node, each a URL, a port or { host, port }',
  "write it as [{ host: 'redis-0', port: 6379 }]",
);

const CLUSTER = {
  nodes: { read: NODES, isRequired: true },
  options: { read: matching(isRecord, 'an object of cluster options of ioredis', 'see ClusterOptions of ioredis') },
} as const;

function checkCluster(raw: Readonly<Record<string, unknown>>, at: Place): void {
  const reader = new OptionReader({ raw, prefix: `${at.path}.` }, at.problems);
  const given = reader.read(CLUSTER, { keyPrefix: 'the keys begin with projectName, so set that instead' });
  const options = given.options?.value ?? {};
  for (const [place, some] of [
    ['options', options],
    ['options.redisOptions', options['redisOptions']],
  ] as const) {
    if (hasKeyPrefix(some)) at.in(`${place}.keyPrefix`).note(NO_KEY_PREFIX);
    checkPassword(some, at.in(place));
  }
}

const SERVER = {
  sentinels: {
    read: matching(
      (value): value is unknown => !Array.isArray(value) || value.every(isNode),
      'a list of { host, port }',
      "write it as [{ host: 'sentinel-0', port: 26379 }]",
    ),
  },
  host: { read: readHost },
  port: {
    read: matching(
      isPort,
      'a port from 1 to 65535',
      'give it a value such as 6379, or leave it out; Number(undefined) is NaN',
    ),
  },
};

/** ioredis has many other options, which are not checked. */
function checkServer(raw: Readonly<Record<string, unknown>>, at: Place): void {
  if (hasKeyPrefix(raw)) at.in('keyPrefix').note(NO_KEY_PREFIX);
  checkPassword(raw, at);
  for (const option of FOREIGN_OPTIONS.filter((name) => raw[name] !== undefined)) {
    const fix = "pass the URL itself, as in connection: 'redis://host:6379', or write { host, port, db }";
    at.in(option).note(`is no option of ioredis, which would connect to localhost: ${fix}`);
  }
  for (const [key, row] of Object.entries(SERVER)) readOption(row, raw[key], () => at.in(key));
}

function readHost(host: unknown, at: Place): string | undefined {
  if (typeof host === 'string' && host !== '' && !isUrlLike(host)) return host;
  if (!isUrlLike(host))
    return at.refuse(host, 'the name or address of a host', "give it a value such as 'localhost', or leave it out");
  at.note("must be a name or an address, got a URL: pass it as connection: 'redis://host:6379'");
  return undefined;
}

function checkPassword(raw: unknown, at: Place): void {
  const given = isRecord(raw) ? (raw['password'] ?? undefined) : undefined;
  if (given !== undefined) readPassword(given, at.in('password'));
}

function isPort(value: unknown): value is number | string {
  const port = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535;
}

function isNode(node: unknown): boolean {
  if (typeof node === 'string') return node !== '' && !isUnencoded(node);
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
