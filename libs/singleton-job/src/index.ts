export { JobRun } from './jobs/job-run.js';
export { Cron, FixedRate, Interval, type JobDecorator, Once, WhileLeader } from './jobs/job.decorators.js';
export { OnJobEvent } from './jobs/on-job-event.js';
export { type JobRegistration } from './jobs/job-registration.js';
export { nextTimes, type NextTimesSchedule } from './jobs/next-times.js';
export { UnknownJobError } from './control/job-registry.errors.js';
export { StoreError } from './base/errors/store.error.js';
export { LockLostError, LocksClosedError, LockUnavailableError } from './locks/lock.errors.js';
export { InvalidJobsError, InvalidLockError, InvalidOptionsError } from './base/errors/mistakes.errors.js';
export { LeaseLostError, RunAbortedError } from './base/errors/run.errors.js';
export { SingletonJobError } from './base/errors/singleton-job.error.js';
export { type JobEvent, type JobEvents } from './base/events/events.js';
export { type JobObserver } from './base/events/observer.js';
export { type RunInfo } from './base/events/run-info.js';
export { type RunInterceptor } from './base/events/run-interceptor.js';
export { LockHandle } from './locks/lock-handle.js';
export { type LockKey, type LockOptions } from './locks/lock-request.js';
export { LockService } from './locks/lock.service.js';
export { type Duration } from './base/text/duration.js';
export { duration } from './options/duration.js';
export {
  type CronOptions,
  type FixedRateOptions,
  type IntervalOptions,
  type JobOptions,
  type JobOverrides,
  type OnceOptions,
  type WhileLeaderOptions,
} from './options/job.options.js';
export {
  SINGLETON_JOB_OPTIONS,
  type SingletonJobOptions,
  type SingletonJobOptionsFactory,
} from './options/singleton-job.options.js';
export { SingletonJobRegistry } from './control/job-registry.js';
export { type RunEnd, type StepDownResult, type TriggerResult } from './commands/results.js';
export { type JobOverview, type JobStatus } from './control/job-status.js';
export { type PauseOptions } from './control/pause-options.js';
export { type TriggerOptions } from './control/trigger-options.js';
export { type HealthReport, SingletonJobHealth } from './control/singleton-job-health.js';
export { CronExpression } from './schedule/cron/cron-expression.js';
export { type SingletonJobAsyncOptions, SingletonJobModule } from './nest/singleton-job.module.js';
export { type Store } from './store/store.js';
export { type ConnectionOptions } from './store/open-store.js';
export { type MysqlConfig, type MysqlConnectionOptions } from './store/mysql/mysql-client.js';
export { mysqlMigrations } from './store/mysql/mysql-tables.js';
export { type PostgresConfig, type PostgresConnectionOptions } from './store/postgres/postgres-client.js';
export { postgresMigrations } from './store/postgres/schema.js';
export { type RedisConnectionOptions } from './store/redis/redis-clients.js';
