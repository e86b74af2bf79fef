import { type Job } from '../jobs/job.js';

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
