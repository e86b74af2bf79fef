/** Marks options that were read from variables. It is registered: the reader may be of another copy of the package. */
const VARIABLES = Symbol.for('nestjs-singleton-job:variables');

/** How a variable sets an option: its text as it is, or what it is read as. `none`: no text can be the option. */
export type VariableKind = 'text' | 'boolean' | 'duration' | 'none';

/** The kind of each option, which its type decides. */
export type VariableKinds<T> = { readonly [K in keyof T]-?: KindOf<NonNullable<T[K]>> };

type KindOf<V> = number extends V ? 'duration' : [V] extends [string] ? 'text' : KindOfUnion<V>;
type KindOfUnion<V> = string extends V ? 'text' : boolean extends V ? 'boolean' : 'none';

/** The variables that options were read from. */
export interface OptionVariables {
  /** What their names begin with: `SINGLETON_JOB_`, or `SINGLETON_JOB_JOBS__DAILY_REPORT__`. */
  readonly prefix: string;
  /** Every option that a variable can set, with what it was read as: undefined if it is not set. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Mistakes that no option shows: a sentence about each variable that sets none. */
  readonly problems: readonly string[];
  /** The variables of each job, which are read into `jobs`. */
  readonly ofJobs?: Readonly<Record<string, readonly string[]>>;
}

/** How an option stands in the name of a variable: `LOCK_EXPIRY` for `lockExpiry`. */
export function optionInVariable(option: string): string {
  return option.replaceAll(/[A-Z]/g, '_$&').toUpperCase();
}

/** How a job stands in the name of a variable: `DAILY_REPORT` for `daily-report`. Several names may have one form. */
export function jobInVariable(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '_').toUpperCase();
}

/** The options that variables set. They say which variables, also when they are spread into others. */
export function optionsOfVariables(variables: OptionVariables): object {
  const set = Object.entries(variables.values).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(set), [VARIABLES]: variables };
}

/** Where options came from. Undefined: from code. */
export function variablesOf(options: object): OptionVariables | undefined {
  return Reflect.get(options, VARIABLES) as OptionVariables | undefined;
}

/** The variable that an option was read from, or would have been. Undefined: code sets it. */
export function variableOf(options: object, option: string): string | undefined {
  const variables = variablesOf(options);
  if (variables === undefined || !Object.hasOwn(variables.values, option)) return undefined;
  // code may have replaced the value after a spread
  if (Reflect.get(options, option) !== variables.values[option]) return undefined;
  return `${variables.prefix}${optionInVariable(option)}`;
}
