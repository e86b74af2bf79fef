import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type ConfigType } from '@nestjs/config';
import { Redis } from 'ioredis';
import pg from 'pg';
import { singletonJobConfig } from '../config/singleton-job.config.js';

const SAVE_IN_REDIS = `
local newest = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < newest then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'body', ARGV[2])
return 1`;

const SAVE_IN_POSTGRES = `
INSERT INTO report (project, token, body) VALUES ($1, $2, $3)
ON CONFLICT (project) DO UPDATE SET token = excluded.token, body = excluded.body WHERE report.token <= excluded.token`;

/** Where the report is: on the server that the jobs are led by. It connects with the first report. */
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
      await pool.query(
        'CREATE TABLE IF NOT EXISTS report (project text PRIMARY KEY, token bigint NOT NULL, body text NOT NULL)',
      );
      return (await pool.query(SAVE_IN_POSTGRES, [project, fencingToken, body])).rowCount === 1;
    },
    close: () => void pool.end(),
  };
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
    this.#shelf = /^postgres(ql)?:/.test(connection) ? inPostgres(connection) : inRedis(connection);
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
