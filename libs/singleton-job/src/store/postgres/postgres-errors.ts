import { LockStoreError, type LockStoreErrorCode } from '../../base/errors/lock-store.error.js';
import { messageOf } from '../../base/errors/message-of.js';
import { grantSql } from './schema.js';

/** What the library knows about a failed request. */
export interface FailedRequest {
  readonly schema: string;
  /** The role of the connection, where it is known. */
  readonly role?: string | undefined;
  /** Undefined: there is no connection. */
  readonly step?: string | undefined;
}

type Fix = string | ((request: FailedRequest, message: string) => string);

/** By SQLSTATE, or the code of an error of Node. The first match counts. Any other error may be gone in a moment. */
const FIXES: readonly (readonly [codes: RegExp, code: LockStoreErrorCode, fix: Fix])[] = [
  [/^42501$/, 'STORE_MISCONFIGURED', grantFor],
  [
    /^(42P01|3F000|42883)$/,
    'STORE_MISCONFIGURED',
    ({ schema }) => `The schema ${schema} is not complete: drop migrate: false, or run the SQL of postgresMigrations()`,
  ],
  [
    /^(42P07|42723)$/,
    'STORE_MISCONFIGURED',
    ({ schema }) => `The schema ${schema} has something of this name: give the option schema one of its own`,
  ],
  [
    /^28/,
    'STORE_MISCONFIGURED',
    (_request, message) =>
      /no encryption|SSL off/.test(message)
        ? 'The server wants TLS: add ?sslmode=verify-full to the URL, or ssl: true to the options'
        : 'Check user and password in connection, and pg_hba.conf of the server',
  ],
  [/^3D000$/, 'STORE_MISCONFIGURED', 'Check the name of the database at the end of the URL'],
  [
    /SELF_SIGNED|UNABLE_TO_/,
    'STORE_MISCONFIGURED',
    "Pass the CA of the server: connection: { postgres: { …, ssl: { ca: readFileSync('ca.pem') } } }",
  ],
  [/^25006$/, 'STORE_REFUSED_WRITE', 'Connect to the primary, or free its disk if it made itself read-only'],
  [/^55000$/, 'STORE_UNREACHABLE', 'Connect to the primary'],
  [/^53[12]00$/, 'STORE_REFUSED_WRITE', 'Free disk or memory of the server'],
  [
    /^53300$/,
    'STORE_REFUSED_WRITE',
    'Raise max_connections, or use fewer: a process needs two, and three with heartbeatThread',
  ],
];

function grantFor({ schema, role = 'your role' }: FailedRequest, message: string): string {
  const [, ofServer] = /for function (pg_\w+)/.exec(message) ?? [];
  return ofServer === undefined
    ? `Run as the owner of the schema: ${grantSql(schema, role)}`
    : `Run as a superuser: GRANT EXECUTE ON FUNCTION ${ofServer} TO "${role}"`;
}

/** The error for a failure of PostgreSQL or of its connection. Its message says what a person can do, if anything. */
export function postgresError(error: unknown, request: FailedRequest): LockStoreError {
  if (error instanceof LockStoreError) return error;
  const { step } = request;
  const state = sqlState(error);
  const message = textOf(error).replace(/[.\s]+$/, '');
  const [, code = 'STORE_UNREACHABLE', fix = ''] = FIXES.find(([codes]) => codes.test(codeOf(error))) ?? [];
  const what = step === undefined ? 'is not connected' : `did not carry out '${step}'`;
  const sentences = [
    `PostgreSQL ${what}: ${message}${state && ` (${state})`}`,
    typeof fix === 'string' ? fix : fix(request, message),
  ];
  const options = { cause: error, wasSent: step !== undefined, affectsAllJobs: true };
  return new LockStoreError(code, sentences.filter(Boolean).join('. '), options);
}

/** A person must change something before the store can work. */
export function misconfigured(message: string, cause?: unknown): LockStoreError {
  return new LockStoreError('STORE_MISCONFIGURED', message, { cause, wasSent: false, affectsAllJobs: true });
}

/** The five characters that name the kind of an error of the server. Empty: the error is of the connection. */
export function sqlState(error: unknown): string {
  return /^(?=.*\d)[\dA-Z]{5}$/.exec(codeOf(error))?.[0] ?? '';
}

/** An error of several addresses has no message but a code. */
function textOf(error: unknown): string {
  const { message } = Object(error) as { readonly message?: unknown };
  return typeof message === 'string' ? message || codeOf(error) : messageOf(error);
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}
