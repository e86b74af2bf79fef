/** The metadata that decorators record, and the `JobRun` that a method gets. */
export { type JobMetadata, recordedJobs } from './job-metadata.js';
export { Cron, FixedRate, Interval, type JobDecorator } from './job.decorators.js';
export { type JobEventDecorator, OnJobEvent, recordedEvents } from './on-job-event.js';
export { JobRun, type RunControl } from './job-run.js';
