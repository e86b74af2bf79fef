export { type JobMetadata, recordedJobs } from './job-metadata.js';
export { Cron, FixedRate, Interval, type JobDecorator, Timeout } from './job.decorators.js';
export { JobRun } from './job-run.js';
