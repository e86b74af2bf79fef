import { type Job } from '../jobs/job.js';

/** How many jobs are listed by name: an application may have a thousand. */
const MOST_JOBS = 10;

/**
 * `line` has the number of jobs, where their locks are, and the first ten jobs. `all` lists all jobs if there are more.
 */
export function describeJobs(
  jobs: readonly Job[],
  place: string | undefined,
): { readonly line: string; readonly all: string | undefined } {
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`;
  const listed = jobs.map(
    ({ name, schedule, enabled }) => `${name} ${schedule.summary}${enabled ? '' : ' (disabled)'}`,
  );
  const others = listed.length - MOST_JOBS;
  const first = `${listed.slice(0, MOST_JOBS).join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
  const all = others > 0 ? `all ${count}: ${listed.join('; ')}` : undefined;
  return { line: `found ${count}${place === undefined ? '' : ` on ${place}`}: ${first}`, all };
}
