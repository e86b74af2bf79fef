export { JobRun } from './decorators/job-run.js';
export { Cron, FixedRate, Interval, type JobDecorator } from './decorators/job.decorators.js';
export { type JobEventDecorator, OnJobEvent } from './decorators/on-job-event.js';
export { type JobRegistration, type RegisteredSchedule } from './discovery/job-registration.js';
export { UnknownJobError } from './errors/job-registry.errors.js';
export { LockStoreError, type LockStoreErrorCode } from './errors/lock-store.error.js';
export { LockLostError, LocksClosedError, LockUnavailableError } from './errors/lock.errors.js';
export { InvalidJobsError, InvalidLockError, InvalidOptionsError } from './errors/mistakes.errors.js';
export { LeaseLostError, type RunAbortCode, RunAbortedError } from './errors/run.errors.js';
export { SingletonJobError } from './errors/singleton-job.error.js';
export { JOB_EVENTS, type JobEvent, type JobEvents } from './events/events.js';
export { type JobObserver } from './events/observer.js';
export {
  type LeadershipGain,
  type LeadershipLoss,
  type LeadershipReleaseReason,
  type MissReason,
  type TickDropReason,
  type WarningCode,
} from './events/reasons.js';
export { type RunCause, type RunEnded, type RunInfo, type ScheduleKind } from './events/run-info.js';
export { type InterceptedRun, type RunInterceptor } from './events/run-interceptor.js';
export { LockHandle } from './locks/lock-handle.js';
export { type LockKey, type LockOptions } from './locks/lock-request.js';
export { LockService } from './locks/lock.service.js';
export { type Duration } from './options/duration.js';
export {
  type CronOptions,
  type FixedRateOptions,
  type IntervalOptions,
  type JobOptions,
  type JobOverrides,
  type Overlap,
} from './options/job.options.js';
export {
  type HeartbeatThreadOptions,
  type InterceptorClass,
  type ObserverClass,
  type SingletonJobOptions,
  type SingletonJobOptionsFactory,
} from './options/singleton-job.options.js';
export { SINGLETON_JOB_OPTIONS } from './options/tokens.js';
export { SingletonJobRegistry } from './replica/job-registry.js';
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
} from './replica/job-status.js';
export { type HealthReport, type OverdueJob, SingletonJobHealth } from './replica/singleton-job-health.js';
export { CronExpression } from './schedule/cron/cron-expression.js';
export { type SingletonJobAsyncOptions, SingletonJobModule } from './singleton-job.module.js';
export {
  type AcquireRequest,
  type AcquireResult,
  CLAIM_LEAD_MS,
  type ClaimOutcome,
  type ClaimRequest,
  type ClaimResult,
  type Grant,
  type HeartbeatReference,
  type HeartbeatRequest,
  type HeartbeatResult,
  type Holder,
  type JobCommandReply,
  type JobCommandRequest,
  type JobState,
  type ListedSession,
  lockExpiryOf,
  lockLifeMs,
  type LockMessage,
  type LockStore,
  type LockStoreListener,
  type Refusal,
  type RefusalReason,
  type ReleaseRequest,
  type ReleaseResult,
  type RenewRequest,
  type RenewResult,
  replicaOf,
  type SessionId,
  sessionOf,
  type SessionResult,
  type SessionToKeep,
  type SetPausedRequest,
  type SetPausedResult,
  type StateUpdate,
  type StoreMessage,
  type StoreWarning,
} from './store/lock-store.js';
export { type ClusterConnection, type RedisConnectionOptions } from './store/redis/redis-clients.js';
