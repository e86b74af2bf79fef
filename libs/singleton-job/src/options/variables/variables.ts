/** As in `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** What the variables of `singletonJobConfig` begin with, before `_`. */
export const OPTION_PREFIX = 'SINGLETON_JOB';

/** The variable that switches all jobs off. */
export const ENABLED_VARIABLE = 'SINGLETON_JOB_ENABLED';

/** What variables say beside the options of the module that they set. */
export interface FromVariables {
  /** What their names begin with: `SINGLETON_JOB_`. */
  readonly prefix: string;
  /** Options of jobs, by the job as a variable names it: see {@link jobInVariable}. */
  readonly jobs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** A sentence about each variable that sets no option. */
  readonly problems: readonly string[];
}

/** The field of options that come from variables. It survives a spread, and a second copy of the library finds it. */
export const FROM_VARIABLES = Symbol.for('nestjs-singleton-job:variables');

/** Undefined: the options come from code. */
export function fromVariables(options: object): FromVariables | undefined {
  return Reflect.get(options, FROM_VARIABLES) as FromVariables | undefined;
}

/** An option as the name of a variable has it: `LOCK_EXPIRY` for `lockExpiry`. */
export function optionInVariable(option: string): string {
  return option.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}

/**
 * A job as the name of a variable has it: `DAILY_REPORT` for `daily-report`. Several job names may give the same text.
 */
export function jobInVariable(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase();
}
