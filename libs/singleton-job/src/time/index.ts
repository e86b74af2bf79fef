/** Clocks and timers. */
export { type Clock, type Instant, instant, type Timer } from './clock.js';
export { isTimeZone } from './is-time-zone.js';
export { sleep } from './sleep.js';
export { Sleeper } from './sleeper.js';
export { SystemClock } from './system-clock.js';
export { unlessAborted } from './unless-aborted.js';
export { within } from './within.js';
