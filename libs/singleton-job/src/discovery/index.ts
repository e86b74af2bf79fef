/** Finds decorated methods and checks them: from metadata to jobs. */
export { ambiguousVariables } from './check-names.js';
export { describeJobs } from './describe-jobs.js';
export { type Job } from './job.js';
export { defineRegisteredJob, type JobRegistration, type RegisteredSchedule } from './job-registration.js';
export { exploreInstances } from './explore-instances.js';
export { startLastStopFirst, MODULE_MARK, findOwnModule } from './module-distance.js';
export { resolveExtensions } from './resolve-extensions.js';
