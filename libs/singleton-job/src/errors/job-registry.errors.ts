import { SingletonJobError } from './singleton-job.error.js';

/** Thrown when the registry is asked for a job that this application does not have. */
export class UnknownJobError extends SingletonJobError {
  readonly code = 'UNKNOWN_JOB';

  constructor(
    readonly job: string,
    hint: string,
  ) {
    super(`there is no job '${job}' here: ${hint}`);
  }
}
