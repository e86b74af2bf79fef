import { type JobInfo } from '../durable-jobs/job-store.js';
import type { ReportPayload } from './report-handler.js';

export const urlOf = (id: string): string => `/api/reports/${id}`;

/** What a user sees of a report. */
export function toBody(info: JobInfo) {
  const { id, status, progress, attempts, createdAt, startedAt, completedAt, nextRunAt } = info;
  const { title } = info.payload as ReportPayload;
  return { id, title, status, error: reasonOf(info), progress, attempts, createdAt, startedAt, completedAt, nextRunAt };
}

/** Why a report failed. The text of an exception may name servers and keys, so it is for operators only. */
export function reasonOf({ status, error, timeout }: JobInfo): string | null {
  if (status !== 'Failed' && status !== 'DeadLettered') return null;
  const tookTooLong = `It took longer than ${String(timeout / 1_000)} s. Choose a shorter span of time.`;
  return error?.startsWith('timed out') ? tookTooLong : 'Something went wrong on our side. The operator knows more.';
}
