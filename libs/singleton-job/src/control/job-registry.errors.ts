import { SingletonJobError } from '../base/errors/singleton-job.error.js';

/** Thrown when the registry is asked for a job that this application does not have. */
export class UnknownJobError extends SingletonJobError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'UNKNOWN_JOB';

  constructor(
    /** The name that was asked for. */
    readonly job: string,
    hint: string,
  ) {
    super(`there is no job '${job}' here: ${hint}`);
  }
}
