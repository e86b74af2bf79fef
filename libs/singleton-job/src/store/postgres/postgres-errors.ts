import { POSTGRES_FIXES } from '../../advice/store-errors.js';
import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type Codes, storeError } from '../store-errors.js';
import { grantSql } from './schema.js';

/** By SQLSTATE, or the code of an error of Node, and the message after it. */
const CODES: Codes = {
  STORE_MISCONFIGURED: [
    /^(28|P0|3D000|3F000|42501|42723|42883|42P01|42P07)/,
    /does not support SSL|^\w*(SELF_SIGNED|UNABLE_TO_)/i,
  ],
  STORE_REFUSED_WRITE: [/^(25006|53[123]00)/],
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
    codes: CODES,
    fixes: POSTGRES_FIXES,
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
