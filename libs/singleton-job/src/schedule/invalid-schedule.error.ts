import { SingletonJobError } from '../errors/index.js';

/**
 * A schedule that cannot be built. The message says what was expected, what came and what to do, and reads on after the
 * place of the mistake: `Prices.report: cron expression must have …`.
 */
export class InvalidScheduleError extends SingletonJobError {
  readonly code = 'INVALID_SCHEDULE';
}
