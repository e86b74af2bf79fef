import { type CronSchedule } from '../../libs/singleton-job/src/schedule/index.js';
import { type History } from './checker.js';

/**
 * The occurrences of a cron job from the first that anybody has dealt with to the last: what came before the first leader or
 * after the last is nobody's.
 */
export function dueOccurrences(
  schedule: CronSchedule,
  job: string,
  { runs, reports }: Pick<History, 'runs' | 'reports'>,
): number[] {
  const seen = [
    ...runs.filter((run) => run.job === job).map(({ scheduledAt }) => scheduledAt),
    ...reports.filter((report) => report.job === job).map(({ to }) => to),
  ];
  if (seen.length === 0) return [];
  const last = Math.max(...seen);
  const due: number[] = [];
  for (let at = schedule.next(Math.min(...seen) - 1) ?? Infinity; at <= last; at = schedule.next(at) ?? Infinity)
    due.push(at);
  return due;
}
