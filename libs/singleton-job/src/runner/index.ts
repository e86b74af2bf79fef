export { intercept } from './intercept.js';
export { SingletonJobRegistry } from './job-registry.js';
export {
  type JobCounters,
  type JobRole,
  type JobStatus,
  type LastRun,
  type RunOutcome,
  type TriggerResult,
} from './job-status.js';
export { type HealthReport, type OverdueJob, SingletonJobHealth } from './singleton-job-health.js';
export { JobSupervisor } from './job-supervisor.js';
export { makeReplica } from './make-replica.js';
export { nameReplica, ProcessReplica } from './process-replica.js';
