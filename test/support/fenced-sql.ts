import { Injectable } from '@nestjs/common';
import { Cron, type JobRun } from 'nestjs-singleton-job';
import { StaleLeaderError } from './fenced-errors.js';

// The code of docs/fencing.md: a test compares the page with this file, paragraph by paragraph.

/** A pool, a client or a transaction; `rowCount` is what `pg` calls it. */
export interface Database {
  query(sql: string, values: unknown[]): Promise<{ rowCount?: number | null }>;
}

export interface Author {
  compose(occurrence: Date, options: { signal: AbortSignal }): Promise<string>;
}

/** The tables of the recipes. */
export const TABLES = `
  CREATE TABLE report (id TEXT PRIMARY KEY, body TEXT NOT NULL, fencing_token BIGINT NOT NULL DEFAULT 0);
  CREATE TABLE fence (job TEXT PRIMARY KEY, fencing_token BIGINT NOT NULL);`;

@Injectable()
export class DailyReport {
  constructor(
    private readonly db: Database,
    private readonly author: Author,
  ) {}

  @Cron('0 3 * * *', { name: 'daily-report' })
  async write(run: JobRun): Promise<void> {
    const body = await this.author.compose(run.scheduledAt, { signal: run.signal });
    const update = 'UPDATE report SET body = $2, fencing_token = $3 WHERE id = $1 AND fencing_token <= $3';
    const { rowCount } = await this.db.query(update, ['daily', body, run.fencingToken]);
    if (rowCount === 0) throw new StaleLeaderError('no such report with this token or a smaller one');
  }
}

const PUT_REPORT = `
  INSERT INTO report (id, body, fencing_token) VALUES ($1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET body = excluded.body, fencing_token = excluded.fencing_token
  WHERE excluded.fencing_token >= report.fencing_token`;

export async function putReport(db: Database, id: string, body: string, token: number): Promise<void> {
  const { rowCount } = await db.query(PUT_REPORT, [id, body, token]);
  if (rowCount === 0) throw new StaleLeaderError('the report has a larger token');
}

const RAISE_FENCE = `
  INSERT INTO fence (job, fencing_token) VALUES ($1, $2)
  ON CONFLICT (job) DO UPDATE SET fencing_token = excluded.fencing_token
  WHERE excluded.fencing_token >= fence.fencing_token`;

/** The first statement of a transaction: it keeps the row locked until the transaction ends. */
export async function enterFence(transaction: Database, run: JobRun): Promise<void> {
  const { rowCount } = await transaction.query(RAISE_FENCE, [run.job, run.fencingToken]);
  if (rowCount === 0) throw new StaleLeaderError('the fence has a larger token');
}
