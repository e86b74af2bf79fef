import { join } from 'node:path';
import { type DatabaseConstructor, loadSqlite } from '../../libs/singleton-job/src/store/sqlite/sqlite-file.js';
import { ownFolder, OwnServer } from './own-server.js';

/** A file of SQLite in the place of a server. It is down while this process keeps it locked. */
export class SqliteServer extends OwnServer {
  static async start(): Promise<SqliteServer> {
    const program = { path: process.execPath, env: {}, version: process.version };
    const server = new SqliteServer(program, await ownFolder('sqlite'), 0);
    // now, because Jest imports nothing between two tests
    server.#Database = await loadSqlite();
    return server;
  }

  #Database: DatabaseConstructor | undefined;
  #lock: InstanceType<DatabaseConstructor> | undefined;

  override get url(): string {
    return `sqlite:${this.file}`;
  }

  get file(): string {
    return join(this.dir, 'jobs.db');
  }

  override down(): Promise<void> {
    if (this.#Database !== undefined) this.#lock ??= new this.#Database(this.file);
    // one that writes has not ended its transaction
    this.#lock?.exec('PRAGMA busy_timeout = 10000; BEGIN IMMEDIATE');
    return Promise.resolve();
  }

  override up(): Promise<void> {
    this.#lock?.exec('ROLLBACK');
    return Promise.resolve();
  }

  override async stop(): Promise<void> {
    this.#lock?.close();
    await super.stop();
  }

  protected override arguments(): readonly string[] {
    return [];
  }

  protected override isAnswering(): Promise<boolean> {
    return Promise.resolve(true);
  }
}
