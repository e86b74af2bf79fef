import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type Lost } from '../connection.js';
import { type ServerStoreOptions } from '../server-store.js';
import { SqlStore } from '../sql/sql-store.js';
import { type Fixes, storeError } from '../store-errors.js';
import { pathOf } from './path-of.js';
import { loadSqlite, resultCode, SqliteFile } from './sqlite-file.js';

/** By the result code of SQLite and the message after it. */
const FIXES: Fixes = {
  STORE_MISCONFIGURED: {
    '^(3|8|14) |^ (ENOENT|EACCES|EPERM)':
      'Name a folder that exists and in which this process may write: {path}-wal lies beside the file',
    '^26 ': 'Name a file of SQLite in connection, or one that does not exist yet',
    '^11 ': 'Stop all processes, then restore the file or delete it',
    '^1 no such (table|column)': 'Another program has changed the tables: give the library a file of its own',
  },
  STORE_REFUSED_WRITE: { '^13 ': 'Free space on the disk of {path}' },
  STORE_UNREACHABLE: {
    '-(wal|shm) was (deleted|truncated)': 'Let no program delete it, and let no other library of a process open {path}',
    '^[56] ': 'Another process keeps {path} locked: end its transaction',
    // I/O error and locking protocol: WAL needs more than files
    '^1[05] ': 'If it stays, name a file on a local disk: that of {path} cannot lock files or share memory',
  },
};

/** `connection`: what `pathOf()` takes. */
export type SqliteStoreOptions = ServerStoreOptions<string>;

/** Leases and records in a file of SQLite, for the processes of one machine. */
export class SqliteStore extends SqlStore<SqliteStoreOptions, SqliteFile> {
  readonly name = 'SQLite';
  readonly #path = pathOf(this.options.connection);
  /** The newest session. */
  #file: SqliteFile | undefined;

  protected async newSession(lost: Lost): Promise<SqliteFile> {
    if (this.#file?.refusal !== undefined) throw this.#file.refusal;
    const changed = this.options.subscribes === false ? undefined : () => void this.lookForHint();
    const warn = this.listeners.warn.bind(this.listeners);
    const parts = { path: this.#path, leftId: this.#file?.id, changed, lost, warn, silenceMs: this.silenceMs };
    return (this.#file = new SqliteFile(await loadSqlite(), parts));
  }

  protected toError(error: unknown, request?: string): StoreError {
    const code = resultCode(error);
    return storeError(error, {
      store: this.name,
      request,
      text: messageOf(error),
      isAnswer: code !== undefined,
      about: String(code ?? ''),
      fixes: FIXES,
      names: { path: this.#path },
    });
  }
}
