/** Finds decorated methods, checks them and makes job definitions of them. */
export { type JobDefinition } from './job-definition.js';
export { defineRegisteredJob, type JobRegistration, type RegisteredSchedule } from './define-registered-job.js';
export { exploreInstances } from './explore-instances.js';
export { JobExplorer } from './job-explorer.js';
export { describeJobs } from './describe-jobs.js';
export { becomeNearest, MODULE_MARK, onlyModuleOfOurs } from './module-distance.js';
export { resolveParts } from './resolve-extensions.js';
