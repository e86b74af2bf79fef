/** Clocks, timers and waiting. */
export { atDeadline } from './at-deadline.js';
export { backoffMs, type BackoffPolicy, shortPauseMs } from './backoff.js';
export { Condition } from './condition.js';
export { type Clock, type Instant, instant, type Timer } from './clock.js';
export { isTimeZone } from './is-time-zone.js';
export { LinkedAbortController } from './linked-abort-controller.js';
export { onAbort } from './on-abort.js';
export { Semaphore } from './semaphore.js';
export { SharedInterval } from './shared-interval.js';
export { sleep } from './sleep.js';
export { Sleeper } from './sleeper.js';
export { SystemClock } from './system-clock.js';
export { unlessAborted } from './unless-aborted.js';
export { within } from './within.js';
