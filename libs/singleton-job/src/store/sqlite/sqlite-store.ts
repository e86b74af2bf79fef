import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { type Lost } from '../connection.js';
import { hintText, messagesMissing, namesIn } from '../hints.js';
import { type ServerStoreOptions } from '../server-store.js';
import { type Query } from '../sql/sql-session.js';
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
  /** The number of the last hint that was read. */
  #hint = 0;

  async publish(names: readonly string[] | '*'): Promise<void> {
    const change = `INSERT INTO singleton_job_hints VALUES (?, 1, ?)
      ON CONFLICT DO UPDATE SET number = number + 1, names = excluded.names`;
    await this.transaction('publish', (query) => query(change, this.project, hintText(names)));
  }

  protected async newSession(lost: Lost): Promise<SqliteFile> {
    const look = this.options.subscribes === false ? undefined : this.#readHint.bind(this);
    const unwatched: Lost = (reason) => {
      this.listeners.warn(messagesMissing(this.name, messageOf(reason)));
    };
    const path = this.#path;
    return new SqliteFile(await loadSqlite(), { path, look, lost, unwatched, silenceMs: this.silenceMs });
  }

  protected override ready(): void {
    super.ready();
    // also where they arrive up to a second late
    this.listeners.listening(this.options.subscribes !== false);
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

  /** Only the last one is kept: who has missed one looks at everything. */
  async #readHint(query: Query): Promise<void> {
    const last = 'SELECT number AS revision, names AS value FROM singleton_job_hints WHERE project = ?';
    const [hint] = await query(last, this.project);
    if (hint === undefined || hint.revision === this.#hint) return;
    const names = hint.revision === this.#hint + 1 ? namesIn(hint.value) : '*';
    this.#hint = hint.revision;
    this.listeners.each((listener) => listener.hint?.(names));
  }
}
