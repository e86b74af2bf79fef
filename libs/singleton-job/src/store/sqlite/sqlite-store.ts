import { SQLITE_FIXES } from '../../advice/store-errors.js';
import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type SessionParts } from '../connection.js';
import { type ServerStoreOptions } from '../server-store.js';
import { SqlStore } from '../sql/sql-store.js';
import { type Codes, storeError } from '../store-errors.js';
import { pathOf } from './path-of.js';
import { loadSqlite, resultCode, SqliteFile } from './sqlite-file.js';

/** By the result code of SQLite and the message after it. */
const CODES: Codes = {
  STORE_MISCONFIGURED: [/^(3|8|11|14|26) |^ (ENOENT|EACCES|EPERM)|^1 no such (table|column)/i],
  STORE_REFUSED_WRITE: [/^13 /],
};

/** `connection`: what `pathOf()` takes. */
export type SqliteStoreOptions = ServerStoreOptions<string>;

/** Leases and records in a file of SQLite, for the processes of one machine. */
export class SqliteStore extends SqlStore<SqliteStoreOptions, SqliteFile> {
  readonly name = 'SQLite';
  readonly #path = pathOf(this.options.connection);
  /** The newest session. */
  #file: SqliteFile | undefined;

  protected async newSession(parts: SessionParts): Promise<SqliteFile> {
    if (this.#file?.refusal !== undefined) throw this.#file.refusal;
    const changed = this.options.subscribes === false ? undefined : () => void this.readHint();
    const warn = this.listeners.warn.bind(this.listeners);
    const file = { path: this.#path, leftId: this.#file?.id, changed, warn };
    return (this.#file = new SqliteFile(await loadSqlite(), { ...parts, ...file }));
  }

  protected toError(error: unknown, request?: string): StoreError {
    const code = resultCode(error);
    return storeError(error, {
      store: this.name,
      request,
      text: messageOf(error),
      isAnswer: code !== undefined,
      about: String(code ?? ''),
      codes: CODES,
      fixes: SQLITE_FIXES,
      names: { path: this.#path },
    });
  }
}
