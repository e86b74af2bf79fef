import { cronOddity } from '../advice/crons.js';
import { type Job } from '../jobs/job.js';

/** A cron job that runs less often may be a mistake. */
const RARE_MS = 183 * 86_400_000;

/** How many jobs are listed by name: an application may have a thousand. */
const MAX_JOBS = 10;

/** The number of jobs, where their records are, and the first ten jobs. */
export function describeJobs(jobs: readonly Job[], place: string | undefined): string {
  const listed = jobs
    .slice(0, MAX_JOBS)
    .map(({ name, schedule, enabled }) => `${name} ${schedule.summary}${enabled ? '' : ' (disabled)'}`);
  if (jobs.length > MAX_JOBS) listed.push(`and ${jobs.length - MAX_JOBS} more`);
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`;
  return `found ${count}${place === undefined ? '' : ` on ${place}`}: ${listed.join('; ')}`;
}

/** A line about each cron job that may not run when its author meant it to. */
export function oddJobs(jobs: readonly Job[], now: number): readonly string[] {
  const lines = jobs.flatMap(({ name, schedule, enabled, only }) => {
    // one that a function decides about runs as it says
    if (schedule.kind !== 'cron' || !enabled || only !== undefined) return [];
    const next = schedule.next(now) ?? now;
    const rare = `runs next on ${new Date(next).toISOString()}. If that is too late, check its days`;
    const odd = next - now >= RARE_MS ? rare : cronOddity(schedule.fields);
    return odd === undefined ? [] : `${name} (${schedule.summary}) ${odd}`;
  });
  return lines.slice(0, MAX_JOBS);
}
