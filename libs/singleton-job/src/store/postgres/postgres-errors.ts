import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type Fixes, storeError } from '../store-errors.js';
import { grantSql } from './schema.js';

/** By SQLSTATE, or the code of an error of Node, and the message after it. */
const FIXES: Fixes = {
  STORE_MISCONFIGURED: {
    '^42501 .*for function (?<function>pg_\\w+)':
      'Run as a superuser: GRANT EXECUTE ON FUNCTION {function} TO "{role}"',
    '^42501': 'Run as the owner of the schema: {grants}',
    '^(42P01|3F000|42883)':
      'The schema {schema} is not complete: drop migrate: false, or run the SQL of postgresMigrations()',
    '^(42P07|42723)': 'The schema {schema} has something of this name: give the option schema one of its own',
    '^28.*(no encryption|SSL off)':
      'The server wants TLS: add ?sslmode=verify-full to the URL, or ssl: true to the options',
    'does not support SSL': 'The server has no TLS: drop sslmode from the URL, or ssl from the options',
    '^28': 'Check user and password in connection, and pg_hba.conf of the server',
    // of an event trigger
    '^P0':
      'If the database forbids DDL, run the SQL of postgresMigrations() as a role that may, and set migrate: false',
    '^3D000': 'Check the name of the database at the end of the URL',
    '^\\w*(SELF_SIGNED|UNABLE_TO_)':
      "Pass the CA of the server: connection: { postgres: { …, ssl: { ca: readFileSync('ca.pem') } } }",
  },
  STORE_REFUSED_WRITE: {
    '^25006':
      'Connect to the primary, or free its disk if it made itself read-only, or reset default_transaction_read_only of the role',
    '^53[12]00': 'Free disk or memory of the server',
    '^53300':
      'Raise max_connections, or CONNECTION LIMIT of the role, or use fewer: a process needs two, and three with heartbeatThread',
  },
  STORE_UNREACHABLE: { '^55000': 'Connect to the primary' },
};

/**
 * The error for a failure of PostgreSQL, or of its connection if there is no `request`. `role`: of the connection,
 * where it is known.
 */
export function postgresError(error: unknown, schema: string, role = 'your role', request?: string): StoreError {
  const state = sqlState(error);
  return storeError(error, {
    store: 'PostgreSQL',
    request,
    text: messageOf(error).replace(/[.\s]+$/, '') + (state && ` (${state})`),
    isAnswer: state !== '',
    about: codeOf(error),
    fixes: FIXES,
    names: { schema, role, grants: grantSql(schema, role) },
  });
}

/** The five characters that name the kind of an error of the server. Empty: the error is of the connection. */
export function sqlState(error: unknown): string {
  return /^(?=.*\d)[\dA-Z]{5}$/.exec(codeOf(error))?.[0] ?? '';
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
