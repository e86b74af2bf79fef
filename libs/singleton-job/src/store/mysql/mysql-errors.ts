import { MYSQL_FIXES } from '../../advice/store-errors.js';
import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type Codes, storeError } from '../store-errors.js';

/** By the number of the error of the server, or the code of an error of Node, and the message after it. */
const CODES: Codes = {
  STORE_MISCONFIGURED: [
    /^(1044|1045|1046|1049|1064|1142|1143|1146|1227|1665|1698|1835|3159) |insecure transport/i,
    /^HANDSHAKE_SSL_ERROR |SELF_SIGNED|self-signed|UNABLE_TO_/i,
  ],
  STORE_REFUSED_WRITE: [/^(3|1021|1030|1040|1114|1203|1226|1290|1792|1836) /],
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
    codes: CODES,
    fixes: MYSQL_FIXES,
    names: { grants: `GRANT SELECT, INSERT, UPDATE, DELETE, CREATE on the tables ${TABLES} to the user` },
  });
}

/** The number of an error of the server. Undefined: the error is of the connection. */
export function codeOf(error: unknown): number | undefined {
  const { errno, sqlState } = Object(error) as { readonly errno?: unknown; readonly sqlState?: unknown };
  return typeof sqlState === 'string' && typeof errno === 'number' ? errno : undefined;
}
