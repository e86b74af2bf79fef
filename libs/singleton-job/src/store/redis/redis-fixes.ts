import { type Fixes } from '../store-errors.js';

const IS_CLUSTER = 'This Redis is a cluster: write connection: { nodes: [{ host, port }] }';
const IS_SENTINEL = "This server is a Sentinel: write connection: { sentinels: [{ host, port }], name: 'mymaster' }";

/** By the mode that INFO shows: what to write if the client is for one plain server. */
export const OTHER_MODES: Readonly<Record<string, string>> = { cluster: IS_CLUSTER, sentinel: IS_SENTINEL };

/**
 * By the kind of the connection and what Redis, ioredis or the network says. Each server wraps an error inside a script
 * in another text. A connection to one server that was never ready is `tls` or `plain`: maybe only one side speaks TLS.
 */
export const FIXES: Fixes = {
  STORE_MISCONFIGURED: {
    '^(?!cluster).*\\b(MOVED \\d|ASK \\d|TRYAGAIN)|SELECT is not allowed in cluster': IS_CLUSTER,
    NOAUTH: "Add the password: connection: 'redis://user:password@host:6379', or { username, password }",
    'WRONGPASS|invalid password': 'Check the user name and the password in connection',
    "'select' command":
      'A database other than 0 needs +select. Add it to the ACL of the user, or leave out the number of the database',
    "'cluster.*' command": 'On a cluster the ACL of the user needs +cluster|slots and +cluster|info as well',
    // the documentation has the same line, in the words of ACL SETUSER
    "NOPERM|can't (run|publish|access)":
      'The ACL of the user needs: ~{project}:* &{project}:hints +@read +@write -@dangerous +@scripting +subscribe +publish +info +time',
    WRONGTYPE:
      "Another program uses the key '{project}:leases': choose another projectName, or delete the key if no program needs it",
    "unknown command ['`]?sentinel": 'The server that sentinels names is no Sentinel: check its port, 26379 by default',
    "not allowed from script|script(s|ing)? (support )?(is |are )?(disabled|not supported)|without any input keys|unknown command ['`]?eval":
      'This service does not run the scripts of this library: see the table of services on the page about Redis in production',
    'unknown (redis )?(sub)?command': 'This library needs Redis 6.2, Valkey 7.2 or later, with scripts',
    'DB index is out of range': 'Redis has fewer databases: lower the number at the end of the URL, or db',
    certificate:
      'Check tls in connection: { ca } to trust the server, { cert, key } if it asks for a client certificate',
    CROSSSLOT: '',
  },
  STORE_REFUSED_WRITE: {
    'max number of clients': 'Raise maxclients of the server: a process needs two, and three with heartbeatThread',
    '\\bOOM\\b': 'Redis is full: raise its maxmemory',
    'MISCONF|NOREPLICAS': '',
  },
  STORE_UNREACHABLE: {
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
  },
};
