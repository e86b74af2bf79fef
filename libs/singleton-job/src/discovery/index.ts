export { type JobDefinition } from './job-definition.js';
export { defineRegisteredJob, type JobRegistration, type RegisteredSchedule } from './define-registered-job.js';
export { exploreInstances } from './explore-instances.js';
export { JobExplorer } from './job-explorer.js';
