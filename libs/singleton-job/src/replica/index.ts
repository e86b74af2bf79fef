/** One process of the application: its jobs from start to stop, their status and their health. */
export { createReplica } from './create-replica.js';
export { SingletonJobRegistry } from './job-registry.js';
export {
  type JobCounters,
  type JobRole,
  type JobStatus,
  type LastRun,
  type RunOutcome,
  type TriggerResult,
} from './job-status.js';
export { JobSupervisor } from './job-supervisor.js';
export { createReplicaId, ProcessReplica } from './process-replica.js';
export { type HealthReport, type OverdueJob, SingletonJobHealth } from './singleton-job-health.js';
