/** What happens during a term: a loop fires ticks, each tick becomes a run, and one run at a time is in flight. */
export { firstIntervalDue } from './interval-loop.js';
export { intercept } from './intercept.js';
export { JobRunner } from './job-runner.js';
