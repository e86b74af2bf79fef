import { SingletonJobError } from './singleton-job.error.js';

/** An error that lists every mistake, not only the first. */
abstract class MistakesError extends SingletonJobError {
  // not a property: Node prints properties, and the message has them
  readonly #problems: readonly string[];

  constructor(title: string, problems: readonly string[], options?: ErrorOptions) {
    super(`${title}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`, options);
    this.#problems = problems;
  }

  /** Each mistake with its place, what is expected, what was given, and the fix. */
  get problems(): readonly string[] {
    return this.#problems;
  }
}

/**
 * Thrown at start-up with every mistake found in the options of the module, and by the registry where they have no
 * connection.
 */
export class InvalidOptionsError extends MistakesError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'INVALID_OPTIONS';

  constructor(problems: readonly string[], options: ErrorOptions & { readonly title?: string } = {}) {
    super(options.title ?? 'SingletonJobModule cannot start with these options', problems, options);
  }
}

/** Thrown at start-up with every mistake found in the jobs of the application, before any of them runs. */
export class InvalidJobsError extends MistakesError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'INVALID_JOBS';

  constructor(problems: readonly string[], options: ErrorOptions & { readonly title?: string | undefined } = {}) {
    super(options.title ?? 'SingletonJobModule cannot start these jobs', problems, options);
  }
}

/** Thrown by `LockService` for a key or options that it cannot use, with every mistake. */
export class InvalidLockError extends MistakesError {
  /** Names the kind of error. Stable, unlike the message. */
  readonly code = 'INVALID_LOCK';

  constructor(problems: readonly string[]) {
    super('this cannot be locked', problems);
  }
}
