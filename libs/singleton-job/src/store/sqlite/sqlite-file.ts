import { randomInt } from 'node:crypto';
import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs';
import { setImmediate as nextPass } from 'node:timers/promises';
import { messageOf } from '../../base/errors/message-of.js';
import { type StoreError } from '../../base/errors/store.error.js';
import { describeValue } from '../../base/text/describe-value.js';
import { type SessionParts } from '../connection.js';
import { hintsMissing } from '../hints.js';
import { type Warning } from '../listeners.js';
import { type Dialect, type Row, SqlSession, type Statement, type SqlValue } from '../sql/sql-session.js';
import { createTables } from '../sql/sql-tables.js';
import { misconfigured } from '../store-errors.js';
import { mountMistake, mountWarning } from './mount-of.js';
import { openFiles } from './open-files.js';

/** The part of `node:sqlite` that is used here. The types of Node 20 lack it. */
interface Database {
  exec(sql: string): void;
  prepare(sql: string): {
    setReadBigInts(isSet: boolean): void;
    all(...values: readonly unknown[]): Record<string, unknown>[];
  };
  close(): void;
}

export type DatabaseConstructor = new (path: string) => Database;

/** Loads what Node 22.13 and later have. */
export function loadSqlite(): Promise<DatabaseConstructor> {
  // no bundler sees it, and some do not know it
  const module: object | undefined = process.getBuiltinModule('node:sqlite');
  if (module === undefined) return Promise.reject(new Error('no such built-in module: node:sqlite'));
  return Promise.resolve(Reflect.get(module, 'DatabaseSync') as DatabaseConstructor);
}

/** The result code of SQLite, without what extends it. Undefined: the error is of another kind. */
export function resultCode(error: unknown): number | undefined {
  const { errcode } = Object(error) as { readonly errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** SQLITE_BUSY and SQLITE_LOCKED: another process writes. */
const BUSY = [5, 6];
/**
 * SQLITE_IOERR, SQLITE_CORRUPT and SQLITE_NOTADB: the log may be damaged. SQLite repairs what it can when the last
 * session of all processes has ended.
 */
const DAMAGED = [10, 11, 26];
/** The event of a change comes before its commit can be read. */
const READABLE_AFTER_MS = 10;
/** How often a session without requests sees whether the files are still there, and still the library's own. */
const CHECK_EVERY_MS = 1_000;
/** How often to look for other libraries: an application may have thousands of descriptors. */
const FIND_LIBRARIES_EVERY_MS = 60_000;
const OTHER_TABLES = `SELECT tbl_name AS name FROM sqlite_master
  WHERE tbl_name NOT GLOB 'singleton_job_*' AND tbl_name NOT GLOB 'sqlite_*' LIMIT 1`;

const BEGIN: Statement = ['BEGIN IMMEDIATE'];
const COMMIT: Statement = ['COMMIT'];
const TABLES = [
  ...createTables(),
  'CREATE INDEX IF NOT EXISTS singleton_job_forget ON singleton_job_records (project, forget_at)',
];

interface File {
  /** 0: there is none. */
  readonly inode: bigint;
  readonly size: bigint;
}

/** What an opened file needs of its store. */
interface SqliteFileParts extends SessionParts {
  readonly path: string;
  /** The number of the file that the last session had to leave: what is there now may be older. */
  readonly leftId: string | undefined;
  /** Called when a process may have changed the file. Left out: the file is not watched. */
  readonly changed: (() => void) | undefined;
  readonly warn: (warning: Warning) => void;
}

/**
 * One opened file. Nothing waits for it, as that would stop the event loop of this process: where another process
 * writes, a transaction is begun again later. Once begun, it is over before the event loop turns.
 */
export class SqliteFile extends SqlSession<SqliteFileParts> {
  readonly #database: Database;
  /** The files that SQLite has open, by their paths, where other processes open what is there. */
  readonly #files = new Map<string, File>();
  #watcher: FSWatcher | undefined;
  #timers: readonly NodeJS.Timeout[] = [];
  /** The number in the header. Before it is read: that of the last session. */
  id = this.parts.leftId;
  /** Why the file cannot be used until it is another one. */
  refusal: StoreError | undefined;

  constructor(Database: DatabaseConstructor, parts: SqliteFileParts) {
    super(parts);
    this.#database = new Database(parts.path);
    this.#note(parts.path);
  }

  /** A file that was made again has another number in its header, and one that was copied back has another inode. */
  get dialect(): Dialect {
    const server = `(SELECT user_version || '.${this.#files.get(this.parts.path)?.inode}' FROM pragma_user_version)`;
    const now = "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)";
    const orUpdate = 'ON CONFLICT DO UPDATE SET';
    const transaction = { begin: [BEGIN], commit: () => [COMMIT], rollback: [['ROLLBACK']] } as const;
    return { ...transaction, now, server, skipLocked: '', orUpdate, isLocked: () => false };
  }

  async connect(): Promise<void> {
    const { path, leftId, warn } = this.parts;
    // where links lead: SQLite keeps its other files there
    const realPath = realpathSync(path);
    const mistake = mountMistake(realPath);
    if (mistake !== undefined) throw misconfigured(`${path} ${mistake}`);
    const warning = mountWarning(realPath);
    if (warning !== undefined) warn(warning);
    await this.repeat(() => this.query('PRAGMA journal_mode = WAL'));
    await this.query('PRAGMA synchronous = FULL');
    const [log, memory] = [`${realPath}-wal`, `${realPath}-shm`];
    // opens both
    await this.repeat(() => this.#refuseOthers());
    this.#note(log, memory);
    // all sessions of a process share one: it stays until each of them has ended
    const open = await this.#findLibraries(memory);
    if (open.has(realPath) && !open.has(memory)) throw new Error(`the file ${memory} was deleted or replaced`);
    this.id = await this.request(async () => {
      const version = ['SELECT CAST(user_version AS TEXT) AS id FROM pragma_user_version'] as const;
      const [[file] = []] = await this.send(BEGIN, ...TABLES.map((table) => [table] as const), version);
      const isKept = file !== undefined && file.id !== '0' && file.id !== leftId;
      const id = isKept ? file.id : String(randomInt(1, 2 ** 31));
      if (!isKept) await this.send([`PRAGMA user_version = ${id}`]);
      await this.send(COMMIT);
      return id;
    });
    this.#watch(log);
    // what it finds has ended the session
    const check = (): void => void this.#refuseOthers().catch(() => undefined);
    const find = (): void => void this.#findLibraries(memory);
    this.#timers = [setInterval(check, CHECK_EVERY_MS), setInterval(find, FIND_LIBRARIES_EVERY_MS)];
    for (const timer of this.#timers) timer.unref();
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- what it throws is a rejection
  protected async sendAll(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    return statements.map((statement) => this.#rowsOf(statement));
  }

  #rowsOf([sql, ...values]: Statement): readonly Row[] {
    try {
      for (const path of this.#files.keys()) this.#checkFile(path);
      let index = 0;
      const text = sql.replaceAll('?', () => marksOf(values[index++]));
      const statement = this.#database.prepare(text);
      // it would fail at a number that another program made too large
      statement.setReadBigInts(true);
      return statement.all(...values.flat(2)).map(withNumbers);
    } catch (error: unknown) {
      // a new session opens the file that is there now, and makes its tables
      const code = resultCode(error);
      if (code === undefined || DAMAGED.includes(code) || /^no such table/.test(messageOf(error)))
        this.parts.lost(error);
      throw error;
    }
  }

  end(): void {
    this.#watcher?.close();
    this.#timers.forEach(clearInterval);
    // that would end the locks of other code of this process, and may delete its -wal
    if (this.refusal === undefined) this.#database.close();
  }

  /**
   * In a pass of its own: what an earlier answer leads to, such as a run that blocks, comes before the transaction. It
   * looks for other tables first: one write beside another library of this process can lose the rows of both.
   */
  protected override async repeat<T>(task: () => Promise<T>): Promise<T> {
    await nextPass();
    return super.repeat(async () => {
      await this.#refuseOthers();
      return task();
    });
  }

  protected isConflict(error: unknown): boolean {
    return BUSY.includes(resultCode(error) ?? 0);
  }

  /** Another SQLite library in this process does not see the locks of this one, so that both lose data. */
  async #refuseOthers(): Promise<void> {
    const [other] = await this.query(OTHER_TABLES);
    if (other === undefined) return;
    const what = `${this.parts.path} has tables of another program, such as ${describeValue(other.name)}`;
    this.refusal = misconfigured(`${what}: name a file of its own in connection, and start anew`);
    this.parts.lost(this.refusal);
    throw this.refusal;
  }

  /** A library opens -shm once for all its sessions. Another one ends the locks of all when it closes a file. */
  async #findLibraries(memory: string): Promise<ReadonlyMap<string, number>> {
    const open = await openFiles();
    if ((open.get(memory) ?? 0) > 1) {
      const what = `another SQLite library of this process has ${this.parts.path} open, such as that of an ORM`;
      const message = `can lose its leases: ${what}. When it closes the file, all locks on it are gone. Give it another file`;
      this.parts.warn({ code: 'FILE_OPENED_TWICE', message });
    }
    return open;
  }

  #note(...paths: readonly string[]): void {
    for (const path of paths) this.#files.set(path, fileAt(path));
  }

  #checkFile(path: string): void {
    const [before, now] = [this.#files.get(path), fileAt(path)];
    // no other process would see what is written; while a file is open, no other one has its inode
    if (now.inode !== before?.inode) throw new Error(`the file ${path} was deleted or replaced`);
    // with a hole in it, a log would overwrite the file with nothing
    if (path.endsWith('-wal') && now.size < before.size && !this.#isWhole())
      throw new Error(`the file ${path} was truncated`);
    this.#files.set(path, now);
  }

  /** After a checkpoint of another program, which may shorten the log, all is in the file. */
  #isWhole(): boolean {
    try {
      // forgets what was read before
      this.#database.prepare('PRAGMA shrink_memory').all();
      const [found] = this.#database.prepare('PRAGMA quick_check').all();
      return found?.['quick_check'] === 'ok';
    } catch {
      return false;
    }
  }

  #watch(file: string): void {
    const { changed, warn } = this.parts;
    const unwatched = (reason: unknown): void => {
      warn(hintsMissing('SQLite', messageOf(reason)));
    };
    if (changed === undefined) return;
    const changedSoon = (): void => void setTimeout(changed, READABLE_AFTER_MS).unref();
    try {
      this.#watcher = watch(file, { persistent: false }, changedSoon).on('error', unwatched);
    } catch (error: unknown) {
      unwatched(error);
    }
  }
}

function marksOf(value: SqlValue = null): string {
  if (typeof value !== 'object' || value === null) return '?';
  return value.map((one) => (typeof one === 'object' && one !== null ? `(${marksOf(one)})` : '?')).join(', ');
}

function withNumbers(row: Record<string, unknown>): Row {
  for (const [name, value] of Object.entries(row)) if (typeof value === 'bigint') row[name] = Number(value);
  return row as unknown as Row;
}

/** Inodes may be beyond the numbers of JavaScript. */
function fileAt(path: string): File {
  const { ino = 0n, size = 0n } = statSync(path, { throwIfNoEntry: false, bigint: true }) ?? {};
  return { inode: ino, size };
}
