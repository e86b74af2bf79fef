/** One process of the application: its jobs from start to stop, their status and their health. */
export { type ApplicationReplica, createReplica, createReplicaId, createStore, REPLICA } from './create-replica.js';
export { SingletonJobRegistry } from './job-registry.js';
export {
  type JobCounters,
  type JobRole,
  type JobStatus,
  type LastRun,
  type PauseResult,
  type ResumeResult,
  type RunOutcome,
  type StepDownResult,
  type TriggerResult,
} from './job-status.js';
export { type JobSupervisor } from './job-supervisor.js';
export { type HealthReport, type OverdueJob, SingletonJobHealth } from './singleton-job-health.js';
export { watchShutdownHooks } from './shutdown-hooks.js';
