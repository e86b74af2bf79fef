import { type JobDefinition } from './index.js';

const KINDS = ['fixed-rate', 'interval', 'cron'] as const;

/** How many jobs there are, and their names by kind, in one line. */
export function describeJobs(jobs: readonly JobDefinition[]): string {
  const kinds = KINDS.flatMap((kind) => {
    const names = jobs
      .filter(({ schedule }) => schedule.kind === kind)
      .map(({ name, enabled }) => (enabled ? name : `${name} (disabled)`));
    return names.length === 0 ? [] : `${kind} ${names.join(', ')}`;
  });
  return `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}: ${kinds.join('; ')}`;
}
