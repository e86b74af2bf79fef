/**
 * What a person can do about a failure, by a pattern of what is known about it. The first match counts. `{name}` in a
 * sentence stands for one of the names that the store gives, or for a group of the pattern.
 */
export type StoreFixes = Readonly<Record<string, string>>;

const IS_CLUSTER = 'This Redis is a cluster: write connection: { nodes: [{ host, port }] }';
const IS_SENTINEL = "This server is a Sentinel: write connection: { sentinels: [{ host, port }], name: 'mymaster' }";

/** By the mode that INFO shows: what to write if the client is for one plain server. */
export const OTHER_MODES: Readonly<Record<string, string>> = { cluster: IS_CLUSTER, sentinel: IS_SENTINEL };

/**
 * By the kind of the connection and what Redis, ioredis or the network says. Each server wraps an error inside a script
 * in another text. A connection to one server that was never ready is `tls` or `plain`: maybe only one side speaks TLS.
 */
export const REDIS_FIXES: StoreFixes = {
  '^(?!cluster).*\\b(MOVED \\d|ASK \\d|TRYAGAIN)|SELECT is not allowed in cluster': IS_CLUSTER,
  NOAUTH: "Add the password: connection: 'redis://user:password@host:6379', or { username, password }",
  'WRONGPASS|invalid password': 'Check the user name and the password in connection',
  "'select' command":
    'A database other than 0 needs +select. Add it to the ACL of the user, or leave out the number of the database',
  "'cluster.*' command": 'On a cluster the ACL of the user needs +cluster|slots and +cluster|info as well',
  // the documentation has the same line, in the words of ACL SETUSER
  "NOPERM|can't (run|publish|access)|ACL failure":
    'The ACL of the user needs: ~{project}:* &{project}:hints +@read +@write -@dangerous +@scripting +subscribe +publish +info +time',
  WRONGTYPE:
    "Another program uses the key '{project}:leases': choose another projectName, or delete the key if no program needs it",
  "unknown command ['`]?sentinel": 'The server that sentinels names is no Sentinel: check its port, 26379 by default',
  "not allowed from script|script(s|ing)? (support )?(is |are )?(disabled|not supported)|without any input keys|unknown command ['`]?eval":
    'This service does not run the scripts of this library: see the table of services on the page about Redis in production',
  'unknown (redis )?(sub)?command': 'This library needs Redis 6.2, Valkey 7.2 or later, with scripts',
  'DB index is out of range': 'Redis has fewer databases: lower the number at the end of the URL, or db',
  certificate: 'Check tls in connection: { ca } to trust the server, { cert, key } if it asks for a client certificate',
  'max number of clients': 'Raise maxclients of the server: a process needs two, and three with heartbeatThread',
  '\\bOOM\\b': 'Redis is full: raise its maxmemory',
  'cluster support disabled': "This Redis is no cluster: write connection: 'redis://host:6379'",
  'READONLY|MASTERDOWN': 'This server is a replica: connect to the primary, or by sentinels or nodes',
  NOPROTO: 'Write connection: { host, port, protocol: 2 }',
  'No such master': 'The Sentinels do not know this name: check name in connection',
  'All sentinels are unreachable': 'Check sentinels, and sentinelPassword, in connection',
  'Failed to refresh slots cache': 'No node of the cluster answered: check nodes, and tls, in connection',
  'Unknown RESP type|Protocol error':
    'The server does not speak the protocol of Redis: check host and port, or write rediss:// for TLS',
  '^tls .*(ETIMEDOUT|ECONNRESET|SSL routines|secure TLS connection)':
    'If this port does not speak TLS, write redis:// instead of rediss://, or leave out tls',
  '^plain (.*(ECONNRESET|EPIPE)|the connection was closed)':
    'If this port speaks TLS, write rediss:// instead of redis://, or add tls: {}',
};

/** By the number of the error of the server, or the code of an error of Node, and the message after it. */
export const MYSQL_FIXES: StoreFixes = {
  '^(1044|1142|1143|1227) ': 'Run as an administrator: {grants}',
  '^(1045|1698) ':
    'Check user and password in connection, and the host for which the server knows the user, or add TLS, which it may require',
  '^1049 ': 'Check the name of the database at the end of the URL',
  '^1046 ': "Name a database at the end of the URL, as in 'mysql://user:password@host/database'",
  '^1146 ': 'The tables are not complete: drop migrate: false, or run the SQL of mysqlMigrations()',
  '^1665 ': 'Set binlog_format = ROW on the server',
  '^(3159|1835) |insecure transport': "Add TLS: connection: { mysql: { uri, ssl: { ca: readFileSync('ca.pem') } } }",
  '^HANDSHAKE_SSL_ERROR |SELF_SIGNED|self-signed|UNABLE_TO_': 'Pass the CA of the server: ssl: { ca: … }',
  '^1064 ': 'The library needs MySQL 8 or MariaDB 10.11, or later',
  '^(1290|1792|1836) ': 'Connect to the primary, or let it take writes',
  '^(1021|1114|1030|3) ': 'Free space on the disk of the server',
  '^(1040|1203|1226) ':
    'Raise max_connections or the limit of the user: a process needs one, and two with heartbeatThread',
  '^1205 ':
    'Another program keeps a table or row of the library locked: end its transaction. For a copy of the data use mysqldump --single-transaction',
};

/** By SQLSTATE, or the code of an error of Node, and the message after it. */
export const POSTGRES_FIXES: StoreFixes = {
  '^42501 .*for function (?<function>pg_\\w+)': 'Run as a superuser: GRANT EXECUTE ON FUNCTION {function} TO "{role}"',
  '^42501': 'Run as the owner of the schema: {grants}',
  '^(42P01|3F000|42883)':
    'The schema {schema} is not complete: drop migrate: false, or run the SQL of postgresMigrations()',
  '^(42P07|42723)': 'The schema {schema} has something of this name: give the option schema one of its own',
  '^28.*(no encryption|SSL off)':
    'The server wants TLS: add ?sslmode=verify-full to the URL, or ssl: true to the options',
  'does not support SSL': 'The server has no TLS: drop sslmode from the URL, or ssl from the options',
  '^28': 'Check user and password in connection, and pg_hba.conf of the server',
  // of an event trigger
  '^P0': 'If the database forbids DDL, run the SQL of postgresMigrations() as a role that may, and set migrate: false',
  '^3D000': 'Check the name of the database at the end of the URL',
  '^\\w*(SELF_SIGNED|UNABLE_TO_)':
    "Pass the CA of the server: connection: { postgres: { …, ssl: { ca: readFileSync('ca.pem') } } }",
  '^25006':
    'Connect to the primary, or free its disk if it made itself read-only, or reset default_transaction_read_only of the role',
  '^53[12]00': 'Free disk or memory of the server',
  '^53300':
    'Raise max_connections, or CONNECTION LIMIT of the role, or use fewer: a process needs two, and three with heartbeatThread',
  '^55000': 'Connect to the primary',
};

/** By the result code of SQLite and the message after it. */
export const SQLITE_FIXES: StoreFixes = {
  '^(3|8|14) |^ (ENOENT|EACCES|EPERM)':
    'Name a folder that exists and in which this process may write: {path}-wal lies beside the file',
  '^26 ': 'Name a file of SQLite in connection, or one that does not exist yet',
  '^11 ': 'Stop all processes, then restore the file or delete it',
  '^1 no such (table|column)': 'Another program has changed the tables: give the library a file of its own',
  '^13 ': 'Free space on the disk of {path}',
  '-(wal|shm) was (deleted|truncated)': 'Let no program delete it, and let no other library of a process open {path}',
  '^[56] ': 'Another process keeps {path} locked: end its transaction',
  // I/O error and locking protocol: WAL needs more than files
  '^1[05] ': 'If it stays, name a file on a local disk: that of {path} cannot lock files or share memory',
};

/** The sentence about a failure. Undefined: there is none. */
export function storeFix(
  fixes: StoreFixes,
  failure: string,
  names: Readonly<Record<string, string>>,
): string | undefined {
  for (const [pattern, fix] of Object.entries(fixes)) {
    const match = new RegExp(pattern, 'i').exec(failure);
    const all: typeof names = { ...names, ...match?.groups };
    if (match !== null) return fix.replaceAll(/\{(\w+)\}/g, (_, name: string) => all[name] ?? '');
  }
  return undefined;
}
