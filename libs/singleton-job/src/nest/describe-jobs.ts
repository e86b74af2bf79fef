import { type Job } from '../jobs/job.js';

/** A cron job that runs less often may be a mistake. */
const RARE_MS = 183 * 86_400_000;

/** How many jobs are listed by name: an application may have a thousand. */
const MOST_JOBS = 10;

/** The number of jobs, where their records are, and the first ten jobs. */
export function describeJobs(jobs: readonly Job[], place: string | undefined): string {
  const listed = jobs
    .slice(0, MOST_JOBS)
    .map(({ name, schedule, enabled }) => `${name} ${schedule.summary}${enabled ? '' : ' (disabled)'}`);
  if (jobs.length > MOST_JOBS) listed.push(`and ${jobs.length - MOST_JOBS} more`);
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`;
  return `found ${count}${place === undefined ? '' : ` on ${place}`}: ${listed.join('; ')}`;
}

/** A line about each cron job whose next time is more than half a year away. */
export function rareJobs(jobs: readonly Job[], now: number): readonly string[] {
  return jobs.flatMap(({ name, schedule }) => {
    const next = schedule.kind === 'cron' ? (schedule.next(now) ?? now) : now;
    if (next - now < RARE_MS) return [];
    return `${name} (${schedule.summary}) runs next on ${new Date(next).toISOString()}. If that is too late, check its days`;
  });
}
