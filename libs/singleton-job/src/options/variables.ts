/** Marks options that were read from variables. Registered, because another copy of the package may have read them. */
const VARIABLES = Symbol.for('nestjs-singleton-job:variables');

/** How the text of a variable is read for an option. `none`: no variable can set it. */
export type VariableKind = 'text' | 'boolean' | 'duration' | 'none';

/** How each option is read. The type of the option decides. */
export type VariableKinds<T> = { readonly [K in keyof T]-?: KindOf<NonNullable<T[K]>> };

type KindOf<V> = number extends V ? 'duration' : [V] extends [string] ? 'text' : KindOfUnion<V>;
type KindOfUnion<V> = string extends V ? 'text' : boolean extends V ? 'boolean' : 'none';

/** The variables that options were read from. */
export interface OptionVariables {
  /** The prefix of their names: `SINGLETON_JOB_`, or `SINGLETON_JOB_JOBS__DAILY_REPORT__`. */
  readonly prefix: string;
  /** Every option that a variable can set, with its value. Undefined: the variable is not set. */
  readonly values: Readonly<Record<string, unknown>>;
  /** A sentence about each variable that sets no option. */
  readonly problems: readonly string[];
  /** The variables of each job, which are read into `jobs`. */
  readonly ofJobs?: Readonly<Record<string, readonly string[]>>;
}

/** An option as the name of a variable has it: `LOCK_EXPIRY` for `lockExpiry`. */
export function optionInVariable(option: string): string {
  return option.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}

/** A job as the name of a variable has it: `DAILY_REPORT` for `daily-report`. Several job names may give the same text. */
export function jobInVariable(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase();
}

/** The options that variables set, with a mark that names the variables. The mark survives a spread. */
export function optionsOfVariables(variables: OptionVariables): object {
  const set = Object.entries(variables.values).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(set), [VARIABLES]: variables };
}

/** The variables that options were read from. Undefined: they come from code. */
export function variablesOf(options: object): OptionVariables | undefined {
  return Reflect.get(options, VARIABLES) as OptionVariables | undefined;
}

/** The variable of an option, whether it is set or not. Undefined: code sets the option. */
export function variableOf(options: object, option: string): string | undefined {
  const variables = variablesOf(options);
  if (variables === undefined || !Object.hasOwn(variables.values, option)) return undefined;
  // after a spread, code may have replaced the value
  if (Reflect.get(options, option) !== variables.values[option]) return undefined;
  return `${variables.prefix}${optionInVariable(option)}`;
}
