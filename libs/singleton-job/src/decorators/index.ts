/** What decorators record of a method, and what they hand to each run. */
export { decoratedMethods, type JobMetadata, recordedJobs } from './job-metadata.js';
export { Cron, FixedRate, Interval, type JobDecorator, Timeout } from './job.decorators.js';
export { JobRun, type RunControl } from './job-run.js';
