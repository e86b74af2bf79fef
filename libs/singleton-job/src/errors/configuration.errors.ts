import { SingletonJobError } from './singleton-job.error.js';

function listProblems(title: string, problems: readonly string[]): string {
  return `${title}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`;
}

/** Thrown at start-up with every mistake found in the options of the module, not only the first. */
export class InvalidOptionsError extends SingletonJobError {
  readonly code = 'INVALID_OPTIONS';

  constructor(
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(listProblems('SingletonJobModule cannot start with these options', problems), options);
  }
}

/** Thrown at start-up with every mistake found in the jobs of the application, before any of them runs. */
export class InvalidJobsError extends SingletonJobError {
  readonly code = 'INVALID_JOBS';

  constructor(
    readonly problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(listProblems('SingletonJobModule cannot start these jobs', problems), options);
  }
}
