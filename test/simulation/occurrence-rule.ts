import { type CronJob, type History, type Report, type Violation } from './history.js';

/**
 * Each occurrence of a cron job that comes due after the first grant is started or reported. A newer occurrence that was started or
 * reported shows that no replica will look at it again. After the store has lost the state of a job, the job begins again with its next grant.
 */
export function lostOccurrences(history: History): Violation[] {
  return [...history.crons].flatMap(([job, cron]) => {
    const starts = history.runs
      .filter((run) => run.job === job)
      .map(({ scheduledAt, startedMs }): Report => ({ after: scheduledAt - 1, upTo: scheduledAt, atMs: startedMs }));
    return gapsOf(cron, [...starts, ...cron.reports])
      .filter(([before, after]) => !cron.lossesMs.some((atMs) => before.atMs < atMs && atMs <= after.atMs))
      .map(([before, after]) => ({ rule: 'occurrence-lost', evidence: inWords(job, before, after) }));
  });
}

/** What was settled before each gap, and after it. */
function gapsOf({ everyMs, firstGrant }: CronJob, settled: readonly Report[]): [Report, Report][] {
  if (firstGrant === undefined) return [];
  const gaps: [Report, Report][] = [];
  let last = firstGrant;
  for (const next of settled.toSorted((a, b) => a.after - b.after)) {
    const firstAfter = (Math.floor(last.upTo / everyMs) + 1) * everyMs;
    if (firstAfter <= next.after) gaps.push([last, next]);
    if (next.upTo > last.upTo) last = next;
  }
  return gaps;
}

function inWords(job: string, before: Report, after: Report): string {
  const time = (at: number): string => new Date(at).toISOString();
  const window = `after ${time(before.upTo)} and up to ${time(after.after)}`;
  return `${job} has occurrences ${window} that were neither started nor reported from ${before.atMs.toFixed(1)} to ${after.atMs.toFixed(1)}`;
}
