import { Injectable } from '@nestjs/common';
import { type JobContext, JobHandler } from '../durable-jobs/job-handler.js';
import { PAGE_SIZE, type RecordedRun, RunHistory } from '../history/run-history.js';
import type { ReportRequest } from './report-request.js';
import { ReportStore } from './report-store.js';

/** Fixed when the report is submitted: a run that is repeated reads the same runs. */
export interface ReportPayload extends Omit<ReportRequest, 'from' | 'to'> {
  /** The user who may see it. Null: every user. */
  readonly owner: string | null;
  readonly from: number;
  readonly to: number;
}

const COLUMNS = ['job', 'outcome', 'scheduledAt', 'durationMs', 'fencingToken', 'error'] as const;
const HEADER = `${COLUMNS.join(',')}\n`;

@Injectable()
export class ReportHandler {
  constructor(
    private readonly history: RunHistory,
    private readonly reports: ReportStore,
  ) {}

  /** Continues after the last page that any worker has saved. */
  @JobHandler('report', { retries: 3, retryDelay: 1_000, timeout: 300_000 })
  async write(
    payload: ReportPayload,
    { id, signal, progress, throwIfStopping }: JobContext,
  ): Promise<{ rows: number }> {
    const oldestAt = Math.max(payload.from, (await this.history.oldest()) ?? payload.to);
    let { cursor, pages, rows } = (await this.reports.checkpoint(id)) ?? { cursor: undefined, pages: 0, rows: 0 };
    for (;;) {
      const runs = await this.history.page(payload, cursor);
      signal.throwIfAborted();
      const last = runs.at(-1);
      if (last !== undefined) {
        const lines = runs.filter((run) => isWanted(run, payload)).map(toLine);
        cursor = last.id;
        pages += 1;
        rows += lines.length;
        await this.reports.savePage(id, lines.join(''), { cursor, pages, rows });
        const done = (Number.parseInt(cursor) - oldestAt) / Math.max(1, payload.to - oldestAt);
        await progress(Math.min(99, Math.round(done * 100)), `${String(rows)} rows`);
      }
      if (runs.length < PAGE_SIZE) break;
      throwIfStopping();
    }
    signal.throwIfAborted();
    await this.reports.storeResult(id, HEADER, pages);
    await progress(100, `${String(rows)} rows`);
    return { rows };
  }
}

function isWanted(run: RecordedRun, { job, outcomes }: ReportPayload): boolean {
  return (job === null || run.job === job) && outcomes.includes(run.outcome);
}

function toLine(run: RecordedRun): string {
  return `${COLUMNS.map((column) => toCell(run[column])).join(',')}\n`;
}

/** Quoted where it must be; a text that a spreadsheet would take for a formula gets an apostrophe. */
function toCell(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
