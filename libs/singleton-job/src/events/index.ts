/** What happens in a replica, and who observes it. */
export { JOB_EVENTS, type JobEvent, type JobEvents, type Notify } from './events.js';
export {
  type LeadershipGain,
  type LeadershipLoss,
  type LeadershipReleaseReason,
  type MissReason,
  type TickDropReason,
  type WarningCode,
} from './reasons.js';
export { type RunCause, type RunEnded, type RunInfo, type ScheduleKind } from './run-info.js';
export { clockAhead, heartbeatThreadFailed, lockTtlRestored, pauseLost, runnerFailed } from './warnings.js';
export { diagnostics } from './diagnostics.js';
export { LoggingObserver, type LogSink } from './logging-observer.js';
export { type JobObserver, notifyAll } from './observer.js';
export { showDuration } from './show-duration.js';
export { type InterceptedRun, type RunInterceptor } from './run-interceptor.js';
