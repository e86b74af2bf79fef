import { describeValue } from '../base/text/describe-value.js';
import { didYouMean } from '../base/text/suggest.js';
import { FROM_VARIABLES, optionInVariable, type OptionVariables, type VariableKind } from './variables.js';

/** Checks a value and parses it. Undefined: it is wrong, which is noted, or it sets nothing. */
export type Reader<T> = (value: unknown, at: Place) => T | undefined;

/** How an option is read. */
export interface OptionRow {
  readonly read: Reader<unknown>;
  /** True: it is read also if it is not given, so that its reader can refuse that. */
  readonly isRequired?: true;
  /** How a variable sets it. @default 'none' */
  readonly variable?: VariableKind;
  readonly default?: unknown;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;

type ValueOf<R extends OptionRow> = Exclude<ReturnType<R['read']>, undefined>;

/** The value of an option, and where it stands. */
interface GivenOption<T = unknown> {
  readonly value: T;
  /** Its place in messages: `jobs.price-tick.period`. */
  readonly path: string;
  /** What sets it: `jobs.price-tick`, or a variable. */
  readonly origin: string;
}

/** The options that are set. Options of several places are merged by a spread: the last place wins. */
export type Given<T extends OptionTable> = { readonly [K in keyof T]?: GivenOption<ValueOf<T[K]>> };

/** The values of a table with its defaults. A duration is in milliseconds, and its name ends in `Ms`. */
export type Resolved<T extends OptionTable> = {
  readonly [K in keyof T & string as T[K] extends { variable: 'duration' } ? `${K}Ms` : K]:
    ValueOf<T[K]> | (T[K] extends { isRequired: true } | { default: unknown } ? never : undefined);
};

/** Where a value stands, for the messages about it. */
export class Place {
  constructor(
    readonly path: string,
    readonly origin: string,
    readonly problems: string[],
    /** Whether a variable sets the value. */
    readonly isVariable = false,
  ) {}

  /** The place of a part of the value. */
  in(key: string | number): Place {
    return new Place(`${this.path}.${key}`, this.path, this.problems);
  }

  /** Notes a mistake in one sentence: what is wrong, and the fix. */
  note(sentence: string): void {
    this.problems.push(`${this.path} ${sentence}`);
  }

  /** Notes a wrong value. Returns undefined, as a reader does then. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the type of the reader that returns it
  refuse<T>(value: unknown, expected: string, fix: string): T | undefined {
    this.note(`must be ${expected}, got ${describeValue(value)}: ${fix}`);
    return undefined;
  }
}

/** An object with options. */
interface OptionSource {
  readonly raw: Readonly<Record<string, unknown>>;
  /** What messages write before the name of an option. @default nothing */
  readonly prefix?: string;
  /** Its own name in messages. @default nothing */
  readonly origin?: string;
  /** The variables that some of the options were read from. */
  readonly variables?: OptionVariables | undefined;
}

/** Reads options by a table. It notes each mistake instead of throwing, so that all mistakes are reported at once. */
export class OptionReader {
  constructor(
    private readonly source: OptionSource,
    private readonly problems: string[],
  ) {}

  /** The place of an option: code, or its variable. */
  at(key: string): Place {
    const { raw, prefix = '', origin = '', variables } = this.source;
    // code may have replaced the value after a spread
    const isVariable =
      variables !== undefined && Object.hasOwn(variables.values, key) && raw[key] === variables.values[key];
    if (!isVariable) return new Place(`${prefix}${key}`, origin, this.problems);
    const variable = `${variables.prefix}${optionInVariable(key)}`;
    return new Place(`${variable}: ${key}`, variable, this.problems, true);
  }

  /**
   * The options that are set and right. Options that are not in the table are mistakes, and so are variables that set no option. `fixes`
   * has the fix for names that people expect here.
   */
  read<T extends OptionTable>(table: Partial<T>, fixes: Readonly<Record<string, string>> = {}): Given<T> {
    const { raw, variables } = this.source;
    this.problems.push(...(variables?.problems ?? []));
    for (const key of Object.keys(raw)) {
      const isKnown = Object.hasOwn(table, key) || (key === FROM_VARIABLES && variables !== undefined);
      if (isKnown || raw[key] === undefined) continue;
      const known = Object.keys(table);
      const fix = Object.hasOwn(fixes, key) ? fixes[key] : undefined;
      const sentence = fix ?? didYouMean(key, known, `the options are ${known.join(', ')}`);
      this.at(key).note(`is no option here: ${sentence}`);
    }
    const given: Record<string, GivenOption> = {};
    for (const [key, row] of Object.entries(table as OptionTable)) {
      const option = readOption(row, raw[key], () => this.at(key));
      if (option !== undefined) given[key] = option;
    }
    return Object.freeze(given) as Given<T>;
  }
}

/** An option, unless it is not set or wrong. Most are not set, and need no place. */
export function readOption(row: OptionRow, raw: unknown, placeOf: () => Place): GivenOption | undefined {
  if (raw === undefined && row.isRequired !== true) return undefined;
  const at = placeOf();
  const value = row.read(raw, at);
  return value === undefined ? undefined : Object.freeze({ value, path: at.path, origin: at.origin });
}

/** The values of all options of a table, with the defaults of those that are not given. */
export function withDefaults<T extends OptionTable>(table: T, given: Given<T>): Resolved<T> {
  const values: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(table))
    values[row.variable === 'duration' ? `${key}Ms` : key] = given[key]?.value ?? row.default;
  return values as Resolved<T>;
}
