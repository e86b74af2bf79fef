/** What happens during a term: a loop fires ticks, and each tick starts a run. One run at a time is in flight. */
export { firstIntervalRun } from './interval-loop.js';
export { JobRunner } from './job-runner.js';
