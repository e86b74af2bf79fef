import { LockStoreError, type LockStoreErrorCode } from '../../base/errors/lock-store.error.js';
import { grantSql } from './postgres-schema.js';

/** What the library knows about a failed request. */
export interface FailedRequest {
  readonly schema: string;
  /** The role that the clients connect as, where it is known. */
  readonly role?: string | undefined;
  /** Undefined: there is no connection. */
  readonly step?: string;
  /** @default true */
  readonly wasSent?: boolean;
}

type Fix = string | ((request: FailedRequest) => string);

interface Row {
  readonly states: RegExp;
  readonly code: LockStoreErrorCode;
  readonly fix: Fix;
}

/** By SQLSTATE. The first match counts; any other error may be gone in a moment. */
const ROWS: readonly Row[] = [
  {
    states: /^42501$/,
    code: 'STORE_MISCONFIGURED',
    fix: ({ schema, role }) => `Run as the owner of the schema: ${grantSql(schema, role ?? 'your role')}`,
  },
  {
    states: /^(42P01|3F000|42883)$/,
    code: 'STORE_MISCONFIGURED',
    fix: ({ schema }) =>
      `The schema ${schema} is not complete: drop migrate: false, or run the SQL of postgresMigrations()`,
  },
  {
    states: /^28/,
    code: 'STORE_MISCONFIGURED',
    fix: 'Check user and password in connection, and pg_hba.conf of the server',
  },
  { states: /^3D000$/, code: 'STORE_MISCONFIGURED', fix: 'Check the name of the database at the end of the URL' },
  {
    states: /^SJ001$/,
    code: 'STORE_MISCONFIGURED',
    fix: "Give the role of the application: ALTER ROLE … SET default_transaction_isolation = 'read committed'",
  },
  {
    states: /^25006$/,
    code: 'STORE_REFUSED_WRITE',
    fix: 'Connect to the primary, or free its disk if it made itself read-only',
  },
  { states: /^55000$/, code: 'STORE_UNREACHABLE', fix: 'This server is a standby: connect to the primary' },
  { states: /^53[12]00$/, code: 'STORE_REFUSED_WRITE', fix: 'Free disk or memory of the server' },
  { states: /^53300$/, code: 'STORE_REFUSED_WRITE', fix: 'Raise max_connections, or use fewer: a process needs three' },
];

/** The error for a failure of PostgreSQL or of its connection. Its message says what a person can do, if anything. */
export function postgresError(error: unknown, request: FailedRequest): LockStoreError {
  if (error instanceof LockStoreError) return error;
  const { step, wasSent = true } = request;
  const state = sqlState(error);
  const row = ROWS.find(({ states }) => states.test(state));
  const code = row?.code ?? 'STORE_UNREACHABLE';
  const message = textOf(error).replace(/[.\s]+$/, '');
  const what = step === undefined ? 'is not connected:' : `did not carry out '${step}':`;
  const shown = state === '' ? message : `${message} (${state})`;
  const fix = typeof row?.fix === 'function' ? row.fix(request) : row?.fix;
  const affectsAllJobs = step === undefined || code !== 'STORE_UNREACHABLE';
  const text = `PostgreSQL ${what} ${shown}${fix === undefined ? '' : `. ${fix}`}`;
  return new LockStoreError(code, text, { cause: error, wasSent, affectsAllJobs });
}

/** An error of several addresses has no message but a code. */
function textOf(error: unknown): string {
  const { message, code } = Object(error) as { readonly message?: unknown; readonly code?: unknown };
  return String(message === undefined ? error : message === '' ? code : message);
}

/** Whether this server is a standby, or became one while the connection stayed open. */
export function isDemotion(error: unknown): boolean {
  return ['25006', '55000'].includes(sqlState(error));
}

/** Whether a full queue of notifications made the whole step fail. */
export function isQueueFull(error: unknown): boolean {
  return sqlState(error) === '54000';
}

/** The five characters that name the kind of an error of the server. Empty: the error is of the connection. */
export function sqlState(error: unknown): string {
  const code: unknown = Reflect.get(Object(error) as object, 'code');
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : '';
}
