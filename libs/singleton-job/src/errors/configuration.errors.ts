import { SingletonJobError } from './singleton-job.error.js';

function listProblems(title: string, problems: readonly string[]): string {
  return `${title}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`;
}

/** Thrown at start-up with every mistake found in the options of the module, not only the first. */
export class InvalidOptionsError extends SingletonJobError {
  readonly code = 'INVALID_OPTIONS';
  // not a property: Node prints properties, and the message has them
  readonly #problems: readonly string[];

  constructor(
    problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(listProblems('SingletonJobModule cannot start with these options', problems), options);
    this.#problems = problems;
  }

  /** Each mistake with its place, what is expected, what was given, and the fix. */
  get problems(): readonly string[] {
    return this.#problems;
  }
}

/** Thrown at start-up with every mistake found in the jobs of the application, before any of them runs. */
export class InvalidJobsError extends SingletonJobError {
  readonly code = 'INVALID_JOBS';
  readonly #problems: readonly string[];

  constructor(
    problems: readonly string[],
    options?: ErrorOptions,
  ) {
    super(listProblems('SingletonJobModule cannot start these jobs', problems), options);
    this.#problems = problems;
  }

  /** Each mistake with its place, what is expected, what was given, and the fix. */
  get problems(): readonly string[] {
    return this.#problems;
  }
}
