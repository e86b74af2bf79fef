import { type ClientWords, MYSQL2, NOT_OF_IOREDIS, PG, unknownTo } from '../../advice/client-words.js';
import { URLS } from '../../advice/connections.js';
import { isPlainObject, isObject } from '../../base/text/describe-value.js';
import { type ConnectionOptions, kindOf } from '../../store/open-store.js';
import { pathOf } from '../../store/sqlite/path-of.js';
import { type Place, type Reader, succeeds } from '../table/option-table.js';

type Options = Readonly<Record<string, unknown>>;

const TLS_FIX = 'ssl={} in its place, or { mysql: { uri, ssl: { ca } } }';
const URL_FIX = `write it as ${URLS.redis}, 'rediss://host:6379' for TLS, ${URLS.postgres}, ${URLS.mysql} or ${URLS.sqlite}`;
const PG_FORMS = `${URLS.postgres} or { postgres: { host, user, password, database } }`;
const MYSQL_FORMS = `${URLS.mysql} or { mysql: { host, user, password, database } }`;

const KINDS =
  'a URL of Redis, PostgreSQL, MySQL or SQLite, options of ioredis, { nodes, options } of a cluster, an ioredis client, ' +
  '{ postgres } or { mysql }';
const KINDS_FIX = `write 'redis://host:6379' or { host: 'localhost', port: 6379 }, or for PostgreSQL ${PG_FORMS}, or { postgres: pool }`;

const PASSWORD_FIX =
  'write connection itself as a function, which is called for each new client, ' +
  'as in connection: async () => ({ …, password: await token() })';

/** Options that say which server ioredis connects to. Without them it is localhost. */
const REDIS_SERVER = ['host', 'port', 'path', 'sentinels', 'Connector'];

/**
 * Reads `connection`. What a client itself would check is left to it. No message repeats a text that may contain a
 * password.
 */
export const readConnection: Reader<ConnectionOptions> = (connection, ofOption) => {
  const place = ofOption.ofConnection();
  if (typeof connection === 'string') checkUrl(connection, place);
  else if (!isObject(connection) || connection instanceof URL) return place.refuse(connection, KINDS, URL_FIX);
  else if (isRedisClient(connection)) checkOptions(connection['options'], place);
  else if ('postgres' in connection) checkPostgres(connection, place);
  else if ('mysql' in connection) checkMysql(connection, place);
  else if ('nodes' in connection) checkCluster(connection, place);
  else checkServer(connection, place);
  return connection;
};

function checkUrl(text: string, place: Place): void {
  const kind = kindOf(text.trimStart());
  const isOfPostgres = kind === 'PostgreSQL';
  // an @ in the query does not end a password
  const [, credentials = ''] = /^\w+:\/\/(.*)@/s.exec(text.replace(/\?\w+=.*$/s, '')) ?? [];
  // the host of a socket is in the query
  const valid = isOfPostgres ? text.replace('@/', '@localhost/') : text;
  const url = URL.canParse(valid) && text.includes('://') ? new URL(valid) : undefined;
  const hasHost = isOfPostgres || url?.hostname !== '';
  const refuse = (expected: string, fix: string) => place.refuse(text, expected, fix);
  if (text !== text.trim()) refuse('a URL with no white space around it', 'trim it');
  else if (kind === 'SQLite') checkFile(text, place);
  else if (/[#/?]/.test(credentials) || !succeeds(() => decodeURIComponent(credentials)))
    refuse("a URL with no #, /, ? or single % before the '@'", 'encode user and password with encodeURIComponent()');
  else if (/%0[ad](:|$)/i.test(credentials)) refuse('a URL with no line break before the @', 'trim the password');
  else if (url === undefined || !SCHEMES.test(url.protocol) || !hasHost || url.hostname.includes(','))
    refuse('a redis://, rediss://, postgresql:// or mysql:// URL of one server, or sqlite: and a file', URL_FIX);
  else if (kind === 'MySQL' && url.pathname.length < 2)
    refuse('a URL that ends in the name of a database', `write it as ${URLS.mysql}`);
  else if (kind === 'Redis' && /[?&]password=[^&]*\+/.test(text))
    refuse('a URL with no + in its password', 'encode it');
  else if (kind === 'Redis' && !/^\/?$|^\/\d+$/.test(url.pathname))
    refuse(
      'a URL that ends in the number of a database or in nothing',
      "write it as in 'redis://host:6379/0', or leave it out",
    );
  else if (kind === 'Redis' && url.protocol === 'redis:' && /[?&](ssl\w*|tls\w+)=(?!false|0)/i.test(url.search))
    refuse('a URL whose TLS ioredis knows of', 'write rediss:// for TLS');
  else if (kind === 'Redis') checkOptions(Object.fromEntries(url.searchParams), place);
  else if (kind === 'MySQL') checkTls(url, place);
}

const SCHEMES = /^(rediss?|postgres(ql)?|mysql|mariadb):$/;

/** A parameter that `mysql2` does not know has no effect: it would connect without TLS. */
function checkTls({ searchParams }: URL, place: Place): void {
  for (const [name, value] of searchParams) {
    const isRead = name === 'ssl' && /^(\{|Amazon)/.test(value);
    if (/ssl|tls/i.test(name) && !isRead && !/^(false|0|disabled?)$/i.test(value))
      place.note(`must ask for TLS in the way of mysql2, not by ${name}: write ${TLS_FIX}`);
  }
}

function checkFile(text: string, place: Place): void {
  const fix = `write it as ${URLS.sqlite} or 'sqlite:///var/lib/jobs.db'`;
  if (!succeeds(() => pathOf(text)))
    place.refuse(text, 'sqlite: and the path of a file, without host and parameters', fix);
}

/** Checks `{ mysql }`: options of `mysql2`. */
function checkMysql({ mysql, ...others }: Options, connection: Place): void {
  const fix = 'put options of mysql2 into mysql, and migrate beside connection';
  for (const name of Object.keys(others)) connection.in(name).note(`has no effect here: ${fix}`);
  const place = connection.in('mysql');
  if (!isPlainObject(mysql))
    place.refuse(mysql, 'options of mysql2', `pass its URL or options, as in connection: ${MYSQL_FORMS}`);
  else {
    checkOptions(mysql, place);
    checkNames(mysql, place, MYSQL2);
    const { uri, ssl } = mysql;
    if (ssl === true) place.in('ssl').refuse(ssl, 'options of TLS', 'write ssl: {} to check the certificate');
    if (typeof uri === 'string') checkUrl(ssl === undefined ? uri : uri.replace(/\?.*$/s, ''), place.in('uri'));
    else if ((mysql['database'] ?? '') === '')
      place.in('database').note('must be given: the tables of the library are there');
  }
}

/** Checks `{ postgres }`: options of `pg`, or a pool. */
function checkPostgres({ postgres, ...others }: Options, connection: Place): void {
  const fix = 'put options of pg into postgres, and schema and migrate beside connection';
  for (const name of Object.keys(others)) connection.in(name).note(`has no effect here: ${fix}`);
  const place = connection.in('postgres');
  if (isPlainObject(postgres)) {
    checkOptions(postgres, place);
    const { connectionString } = postgres;
    if (typeof connectionString === 'string' && kindOf(connectionString) === 'PostgreSQL')
      checkUrl(connectionString, place.in('connectionString'));
    else if (connectionString !== undefined)
      place.in('connectionString').refuse(connectionString, 'a URL of PostgreSQL', `write it as ${URLS.postgres}`);
    checkNames(postgres, place, PG);
  } else if (!isPool(postgres))
    place.refuse(postgres, 'options of pg, or a Pool of pg', `pass its URL or options, as in connection: ${PG_FORMS}`);
}

function checkNames(options: Options, place: Place, client: ClientWords): void {
  for (const key of Object.keys(options)) {
    if (options[key] !== undefined && !client.options.includes(key)) place.in(key).note(unknownTo(client, key));
  }
}

function isPool(value: unknown): value is Options {
  return isObject(value) && typeof value['connect'] === 'function' && typeof value['totalCount'] === 'number';
}

function checkCluster({ nodes, options, ...others }: Options, place: Place): void {
  const fix = 'put options of Cluster into options, and those of each node into options.redisOptions';
  for (const name of Object.keys(others)) place.in(name).note(`has no effect here: ${fix}`);
  const list: readonly unknown[] = Array.isArray(nodes) ? nodes : [];
  const expected = 'a list of at least one node, each a URL, a port or { host, port }';
  if (list.length === 0) place.in('nodes').refuse(nodes, expected, "write it as [{ host: 'redis-0', port: 6379 }]");
  for (const [index, node] of list.entries()) {
    const ofNode = place.in(`nodes.${index}`);
    if (typeof node !== 'string') checkOptions(node, ofNode);
    else if (!/^[\w.-]+(:\d+)?$/.test(node)) checkUrl(node, ofNode);
  }
  checkOptions(options, place.in('options'));
}

/** Recognised by its shape: two copies of ioredis may be installed. */
function isRedisClient(value: Options): boolean {
  return typeof value['duplicate'] === 'function' && typeof value['status'] === 'string';
}

/** Checks options of ioredis for one server. */
function checkServer(connection: Options, place: Place): void {
  const hasServer = REDIS_SERVER.some((key) => (connection[key] ?? '') !== '');
  const foreign = NOT_OF_IOREDIS.filter((key) => connection[key] !== undefined);
  if (foreign.length > 0)
    place.refuse(connection, `options of ioredis, which ignores ${foreign.join(' and ')}`, KINDS_FIX);
  else if (!hasServer || typeof connection['connect'] === 'function') place.refuse(connection, KINDS, KINDS_FIX);
  else checkOptions(connection, place);
}

/** Checks what a client would take and the library cannot use. */
function checkOptions(options: unknown, place: Place): void {
  if (!isObject(options)) return;
  const { keyPrefix, password = '', host, port, redisOptions, sentinels } = options;
  for (const [key, value] of Object.entries(options)) {
    // a URL has a check of its own
    if (typeof value === 'string' && /^(?!.*:\/\/).*[\r\n]$/s.test(value))
      place.in(key).refuse(value, 'a text of one line', 'trim it');
  }
  if (keyPrefix !== undefined && keyPrefix !== null && keyPrefix !== '')
    place.in('keyPrefix').note('is not supported: the keys begin with projectName, so set that instead');
  // the log shows it, and an empty one is localhost
  if (typeof host === 'string' && /^$|[@=,;\s]|:\/\//.test(host))
    place.in('host').refuse(host, 'a name or an address', "write 'localhost', or a URL in place of the object");
  if (!(Number(port ?? 1) >= 1 && Number(port ?? 1) <= 65_535))
    place.in('port').refuse(port, 'a port from 1 to 65535', 'write that of the server');
  if (typeof password === 'number') place.in('password').note('must be a text, got a number: put it in quotes');
  else if (typeof password !== 'string' && password !== null)
    place.in('password').refuse(password, 'a text', PASSWORD_FIX);
  checkOptions(redisOptions, place.in('redisOptions'));
  if (Array.isArray(sentinels))
    for (const [index, sentinel] of sentinels.entries()) checkOptions(sentinel, place.in(`sentinels.${index}`));
}
