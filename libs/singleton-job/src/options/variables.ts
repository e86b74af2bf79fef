import { isRecord } from '../base/text/describe-value.js';

/** How the text of a variable is read for an option. `none`: no variable can set it. */
export type VariableKind = 'text' | 'boolean' | 'duration' | 'none';

/** How the variable of an option is read. The type of the option decides. */
export type KindOf<V> = number extends V ? 'duration' : [V] extends [string] ? 'text' : KindOfUnion<V>;
type KindOfUnion<V> = string extends V ? 'text' : boolean extends V ? 'boolean' : 'none';

/** The variables that options were read from, for messages. */
export interface OptionVariables {
  /** The prefix of their names: `SINGLETON_JOB_`, or `SINGLETON_JOB_JOBS__DAILY_REPORT__`. */
  readonly prefix: string;
  /** Every option that a variable can set, with its value. Undefined: the variable is not set. */
  readonly values: Readonly<Record<string, unknown>>;
  /** A sentence about each variable that sets no option. */
  readonly problems: readonly string[];
  /** The variables of each job, by its name in them. Their values are also in `jobs`. */
  readonly jobs?: Readonly<Record<string, OptionVariables>>;
}

/** The field of the options that has their {@link OptionVariables}. It survives a spread. */
export const FROM_VARIABLES = 'fromVariables';

/** An option as the name of a variable has it: `LOCK_EXPIRY` for `lockExpiry`. */
export function optionInVariable(option: string): string {
  return option.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}

/** A job as the name of a variable has it: `DAILY_REPORT` for `daily-report`. Several job names may give the same text. */
export function jobInVariable(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase();
}

/** The variables that options were read from. Undefined: they come from code. */
export function variablesOf(options: Readonly<Record<string, unknown>>): OptionVariables | undefined {
  const found = options[FROM_VARIABLES];
  return isRecord(found) && isRecord(found['values']) ? (found as unknown as OptionVariables) : undefined;
}
