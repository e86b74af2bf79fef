import { formatDuration } from '../base/text/duration.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { type Job } from './job.js';

/** How many jobs are listed by name: an application may have a thousand. */
const MOST_JOBS = 10;

/** `line` has the number of jobs, where their locks are, and the first ten jobs. `all` lists all jobs if there are more. */
export function describeJobs(
  jobs: readonly Job[],
  place: string | undefined,
): { readonly line: string; readonly all: string | undefined } {
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`;
  const listed = jobs.map(describeJob);
  const others = listed.length - MOST_JOBS;
  const first = `${listed.slice(0, MOST_JOBS).join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
  const all = others > 0 ? `all ${count}: ${listed.join('; ')}` : undefined;
  return { line: `found ${count}${place === undefined ? '' : ` on ${place}`}: ${first}`, all };
}

function describeJob({ name, schedule, enabled }: Job): string {
  return `${name} ${describeSchedule(schedule)}${enabled ? '' : ' (disabled)'}`;
}

function describeSchedule(schedule: AnySchedule): string {
  switch (schedule.kind) {
    case 'fixed-rate':
      return `every ${formatDuration(schedule.periodMs)}${/ jitter .*/.exec(schedule.description)?.[0] ?? ''}`;
    case 'interval':
      return `${formatDuration(schedule.delayMs)} after each run`;
    case 'cron':
      return schedule.description.replace(/^cron /, '');
    case 'while-leader':
      return schedule.description;
  }
}
