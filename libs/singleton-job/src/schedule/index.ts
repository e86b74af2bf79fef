/** When a job is due. Pure functions: no clock is read here. */
export { cron, CronExpression } from './cron/index.js';
export { fixedRate } from './fixed-rate.js';
export { interval } from './interval.js';
export { InvalidScheduleError } from './invalid-schedule.error.js';
export { type AnySchedule, type CronSchedule, type FixedRateSchedule, type IntervalSchedule } from './schedule.js';
