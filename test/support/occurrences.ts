import { type RecordedRun } from '../../tools/replicas/history.js';

/** Cron occurrences after `fromMs` up to `toMs` that a replica reported as not started. */
export interface Report {
  readonly job: string;
  readonly node: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly reason: string;
  readonly atMs: number;
}

/**
 * Every occurrence of a cron job, one of which is due every `periodMs`, that was started twice, reported twice, started
 * and reported, or neither: from its first run to its last run or report. Three reports may come beside another: Redis
 * lost its data (`data-lost`), a leader that was killed or lost its lease has claimed it (`interrupted`), and a leader
 * that was killed within 10 s may not have written its own (`unwritten`).
 */
export function unaccountedOccurrences(
  starts: readonly RecordedRun[],
  reports: readonly Report[],
  periodMs = 1_000,
): string[] {
  const times = starts.map(({ scheduledAtMs }) => scheduledAtMs);
  const untilMs = Math.max(...times, ...reports.map(({ toMs }) => toMs));
  const found: string[] = [];
  for (let dueMs = Math.min(...times); dueMs <= untilMs; dueMs += periodMs) {
    const started = starts.filter(({ scheduledAtMs }) => scheduledAtMs === dueMs);
    const reported = reports.filter(({ fromMs, toMs }) => fromMs < dueMs && dueMs <= toMs);
    const definite = reported.filter(({ reason }) => !['data-lost', 'interrupted', 'unwritten'].includes(reason));
    const isSound = started.length + reported.length > 0 && started.length + definite.length < 2;
    if (isSound) continue;
    const accounts = [
      ...started.map(({ node }) => `started by ${node}`),
      ...reported.map(({ node, reason }) => `${reason} by ${node}`),
    ];
    const what = started.length > 1 ? 'started-twice' : accounts.length > 1 ? 'accounted-twice' : 'unaccounted';
    found.push(`${what}: ${new Date(dueMs).toISOString()}: ${accounts.join(', ')}`);
  }
  return found;
}

/** The payload of `occurrencesMissed`, `runInterrupted` or `tickDropped`, as an observer gets it or as JSON. */
interface ReportPayload {
  readonly job?: string;
  readonly from?: Date | string;
  readonly to?: Date | string;
  readonly occurrence?: Date | string | null;
  readonly scheduledAt?: Date | string;
  readonly count?: number;
  readonly reason?: string;
}

/** What an event reports of a cron job of which one occurrence is due every `periodMs`; nothing for most events. */
export function reportsIn(
  event: string,
  payload: object,
  at: { node: string; atMs: number },
  periodMs = 1_000,
): Report[] {
  const { job = '', reason = '', count = 1, from, to, occurrence, scheduledAt } = payload as ReportPayload;
  const ms = (date: Date | string = ''): number => new Date(date).getTime();
  if (event === 'occurrencesMissed') {
    return [{ ...at, job, reason, fromMs: ms(from), toMs: ms(to) }];
  }
  if (event === 'runInterrupted') {
    const toMs = ms(occurrence ?? new Date(0));
    return [{ ...at, job, reason: 'interrupted', fromMs: toMs - periodMs, toMs }];
  }
  if (event !== 'tickDropped') return [];
  // a drop of several ticks names the newest one
  const toMs = ms(scheduledAt);
  return [{ ...at, job, reason, fromMs: toMs - count * periodMs, toMs }];
}
