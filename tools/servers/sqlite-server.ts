import { join } from 'node:path';
import { type DatabaseConstructor, loadSqlite } from '../../libs/singleton-job/src/store/sqlite/sqlite-file.js';
import { ownFolder, OwnServer } from './own-server.js';

/** A file of SQLite in the place of a server. It is down while this process keeps it locked. */
export class SqliteServer extends OwnServer {
  static async start(): Promise<SqliteServer> {
    return new SqliteServer(
      { path: process.execPath, env: {}, version: process.version },
      await ownFolder('sqlite'),
      0,
    );
  }

  #lock: InstanceType<DatabaseConstructor> | undefined;

  override get url(): string {
    return `sqlite:${this.file}`;
  }

  get file(): string {
    return join(this.dir, 'jobs.db');
  }

  override async down(): Promise<void> {
    const Database = await loadSqlite();
    this.#lock ??= new Database(this.file);
    this.#lock.exec('BEGIN IMMEDIATE');
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
