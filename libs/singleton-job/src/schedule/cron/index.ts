/** Cron expressions: their occurrences in a time zone with daylight saving. */
export { cron } from './cron.js';
export { CronExpression } from './cron-expression.js';
