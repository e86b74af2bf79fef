import { SingletonJobError } from '../base/errors/singleton-job.error.js';

/**
 * A schedule that cannot be built. The message says what was expected, what was given, and the fix. It follows the
 * place of the mistake: `Prices.report: cron expression must have …`.
 */
export class InvalidScheduleError extends SingletonJobError {
  readonly code = 'INVALID_SCHEDULE';
}
