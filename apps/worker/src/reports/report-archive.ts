import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { singletonJobConfig } from '../config/singleton-job.config.js';

const SAVE_IN_REDIS = `
local newest = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < newest then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'body', ARGV[2])
return 1`;

const TABLE =
  'CREATE TABLE IF NOT EXISTS report (project varchar(100) PRIMARY KEY, token bigint NOT NULL, body text NOT NULL)';

/** Of PostgreSQL and SQLite. */
const SAVE_IN_SQL = `
INSERT INTO report (project, token, body) VALUES ($1, $2, $3)
ON CONFLICT (project) DO UPDATE SET token = excluded.token, body = excluded.body WHERE report.token <= excluded.token`;

const SAVE_IN_MYSQL = `
INSERT INTO report (project, token, body) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE
body = IF(token <= VALUES(token), VALUES(body), body), token = GREATEST(token, VALUES(token))`;

/** Where the report is: on the server of the jobs, or in a file beside theirs. It connects with the first report. */
interface Shelf {
  /**
   * False: a later token was there already. A write that times out may still arrive later, and then the token refuses
   * it.
   */
  save(project: string, body: string, fencingToken: number): Promise<boolean>;
  close(): void;
}

function inRedis(url: string): Shelf {
  const redis = new Redis(url, { lazyConnect: true, commandTimeout: 2_000, maxRetriesPerRequest: 1 });
  redis.on('error', () => {
    // the report that needs the connection fails itself
  });
  return {
    save: async (project, body, fencingToken) =>
      (await redis.eval(SAVE_IN_REDIS, 1, `${project}:report`, fencingToken, body)) === 1,
    close: () => {
      redis.disconnect();
    },
  };
}

function inPostgres(connectionString: string): Shelf {
  const pool = new pg.Pool({ connectionString, max: 1, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  pool.on('error', () => {
    // the report that needs the connection fails itself
  });
  return {
    save: async (project, body, fencingToken) => {
      await pool.query(TABLE);
      return (await pool.query(SAVE_IN_SQL, [project, fencingToken, body])).rowCount === 1;
    },
    close: () => void pool.end(),
  };
}

function inMysql(uri: string): Shelf {
  const pool = createPool({ uri, connectionLimit: 1, connectTimeout: 2_000 });
  return {
    save: async (project, body, fencingToken) => {
      await pool.query(TABLE);
      await pool.query(SAVE_IN_MYSQL, [project, fencingToken, body]);
      const [rows] = await pool.query('SELECT token FROM report WHERE project = ?', [project]);
      return (rows as { readonly token: number }[])[0]?.token === fencingToken;
    },
    close: () => void pool.end(),
  };
}

/** The part of `node:sqlite` that is used here. Older versions of Node have none. */
interface Sqlite {
  readonly DatabaseSync: new (path: string) => {
    exec(sql: string): void;
    prepare(sql: string): { run(...values: unknown[]): { readonly changes: number } };
    close(): void;
  };
}

function inSqlite(path: string): Shelf {
  const open = () => new (process.getBuiltinModule('node:sqlite') as unknown as Sqlite).DatabaseSync(path);
  return {
    save: (project, body, fencingToken) => {
      const database = open();
      database.exec(`PRAGMA busy_timeout = 1000; ${TABLE}`);
      const { changes } = database.prepare(SAVE_IN_SQL.replaceAll('$', '?')).run(project, fencingToken, body);
      database.close();
      return Promise.resolve(changes === 1);
    },
    close: () => undefined,
  };
}

function shelfOf(connection: string): Shelf {
  if (/^postgres(ql)?:/.test(connection)) return inPostgres(connection);
  if (connection.startsWith('mysql:')) return inMysql(connection);
  if (!connection.startsWith('sqlite:')) return inRedis(connection);
  // the file of the jobs is theirs alone
  return inSqlite(`${connection.slice('sqlite:'.length)}.reports`);
}

/**
 * Keeps the latest report. It stands for any resource that two leaders might write to: the current leader, and an old
 * leader that was paused after its last check. The fencing token distinguishes them where the write happens.
 */
@Injectable()
export class ReportArchive implements OnApplicationShutdown {
  readonly #shelf: Shelf;
  readonly #project: string;

  constructor(@Inject(singletonJobConfig.KEY) { connection, projectName }: ConfigType<typeof singletonJobConfig>) {
    this.#shelf = shelfOf(connection);
    this.#project = projectName;
  }

  /** @throws Error if a later leader has written already */
  async save(body: string, fencingToken: number): Promise<void> {
    const isSaved = await this.#shelf.save(this.#project, body, fencingToken);
    if (!isSaved) throw new Error(`a later leader has written already: ${body} is dropped`);
  }

  // jobs stop before this, so a run in flight can still save
  onApplicationShutdown(): void {
    this.#shelf.close();
  }
}
