/** Cron expressions: which instants they name, in a time zone with its clock changes. */
export { cron } from './cron.js';
export { CronExpression } from './cron-expression.js';
