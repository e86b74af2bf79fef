import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type Fixes, storeError } from '../store-errors.js';

/** By the number of the error of the server, or the code of an error of Node, and the message after it. */
const FIXES: Fixes = {
  STORE_MISCONFIGURED: {
    '^(1044|1142|1143|1227) ': 'Run as an administrator: {grants}',
    '^(1045|1698) ':
      'Check user and password in connection, and the host for which the server knows the user, or add TLS, which it may require',
    '^1049 ': 'Check the name of the database at the end of the URL',
    '^1046 ': "Name a database at the end of the URL, as in 'mysql://user:password@host/database'",
    '^1146 ': 'The tables are not complete: drop migrate: false, or run the SQL of mysqlMigrations()',
    '^1665 ': 'Set binlog_format = ROW on the server',
    '^(3159|1835) |insecure transport': "Add TLS: connection: { mysql: { uri, ssl: { ca: readFileSync('ca.pem') } } }",
    '^HANDSHAKE_SSL_ERROR |SELF_SIGNED|self-signed|UNABLE_TO_': 'Pass the CA of the server: ssl: { ca: … }',
    '^1064 ': 'The library needs MySQL 8 or MariaDB 10.6, or later',
  },
  STORE_REFUSED_WRITE: {
    '^(1290|1792|1836) ': 'Connect to the primary, or let it take writes',
    '^(1021|1114|1030|3) ': 'Free space on the disk of the server',
    '^(1040|1203|1226) ':
      'Raise max_connections or the limit of the user: a process needs one, and two with heartbeatThread',
  },
  STORE_UNREACHABLE: {
    '^1205 ':
      'Another program keeps a table or row of the library locked: end its transaction. For a copy of the data use mysqldump --single-transaction',
  },
};

const TABLES = 'singleton_job_{incarnations,leases,records}';

/** The error for a failure of MySQL, or of its connection if there is no `request`. */
export function mysqlError(error: unknown, request?: string): StoreError {
  const number = codeOf(error);
  const { code = '' } = Object(error) as { readonly code?: string };
  return storeError(error, {
    store: 'MySQL',
    request,
    text: messageOf(error),
    isAnswer: number !== undefined,
    about: String(number ?? code),
    fixes: FIXES,
    names: { grants: `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE on the tables ${TABLES} to the user` },
  });
}

/** The number of an error of the server. Undefined: the error is of the connection. */
export function codeOf(error: unknown): number | undefined {
  const { errno, sqlState } = Object(error) as { readonly errno?: unknown; readonly sqlState?: unknown };
  return typeof sqlState === 'string' && typeof errno === 'number' ? errno : undefined;
}
