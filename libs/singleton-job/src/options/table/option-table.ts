import { connectionFix } from '../../advice/connections.js';
import { type OptionWords } from '../../advice/option-words.js';
import { didYouMean } from '../../advice/suggest.js';
import { valueFix } from '../../advice/values.js';
import { describeConnection, describeValue, isObject } from '../../base/text/describe-value.js';

/** Checks a value and parses it. Undefined: it is wrong, which is noted, or it sets nothing. */
export type Reader<T> = (value: unknown, place: Place) => T | undefined;

/** How the text of a variable is read. `none`: no variable can set the option. */
export type VariableKind = 'text' | 'boolean' | 'duration' | 'none';

/** What values an option takes. */
export interface OptionType<T = unknown, V extends VariableKind = VariableKind> {
  /** In the words of the page about options. */
  readonly name: string;
  readonly variable: V;
  readonly read: Reader<T>;
}

/** How an option is read. */
export interface OptionRow {
  readonly type: OptionType;
  /** True: it is read also if it is not given, so that its type can refuse that. */
  readonly isRequired?: true;
  readonly default?: unknown;
}

export type OptionTable = Readonly<Record<string, OptionRow>>;

type ValueOf<R extends OptionRow> = R['type'] extends OptionType<infer T> ? T : never;

/** The options that are set, and right. Options of several places are merged by a spread: the last place wins. */
export type Parsed<T extends OptionTable> = { readonly [K in keyof T]?: ValueOf<T[K]> };

/** The values of a table with its defaults. A duration is in milliseconds, and its name ends in `Ms`. */
export type WithDefaults<T extends OptionTable> = {
  readonly [K in keyof T & string as T[K]['type']['variable'] extends 'duration' ? `${K}Ms` : K]:
    ValueOf<T[K]> | (T[K] extends { isRequired: true } | { default: unknown } ? never : undefined);
};

/** How messages show a value, and what advice knows about it. */
const OF_ANY = { show: describeValue, fixOf: valueFix };
/** A text may have a password anywhere. */
const OF_CONNECTION: typeof OF_ANY = { show: describeConnection, fixOf: connectionFix };

/** Where a value stands, for the messages about it. */
export class Place {
  constructor(
    readonly path: string,
    readonly problems: string[],
    /** The variable that can set it, where options come from variables. */
    readonly variable?: string,
    private readonly words = OF_ANY,
  ) {}

  /** The place of a part of the value. */
  in(key: string | number): Place {
    return new Place(`${this.path}.${key}`, this.problems, undefined, this.words);
  }

  /** The same place, for a value that is given as a connection. */
  ofConnection(): Place {
    return new Place(this.path, this.problems, this.variable, OF_CONNECTION);
  }

  /** As messages have it. */
  get shown(): string {
    return this.variable === undefined ? this.path : `${this.path} (${this.variable})`;
  }

  /** Notes a mistake in one sentence: what is wrong, and the fix. */
  note(sentence: string): void {
    this.problems.push(`${this.shown} ${sentence}`);
  }

  /** Notes a wrong value, with `fix` unless advice knows a better one. Returns undefined, as a reader does then. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the type of the reader that returns it
  refuse<T>(value: unknown, expected: string, fix: string): T | undefined {
    const { show, fixOf } = this.words;
    this.note(`must be ${expected}, got ${show(value)}: ${fixOf(value) ?? fix}`);
    return undefined;
  }
}

/**
 * The options that are set and right. Each mistake is noted instead of thrown, so that all mistakes are reported at
 * once. Options that are not in the table are mistakes too. `words` has what people expect here.
 */
export function readOptions<T extends OptionTable>(
  table: T,
  raw: Readonly<Record<string, unknown>>,
  placeOf: (option: string) => Place,
  words: OptionWords = {},
): Parsed<T> {
  const options = Object.keys(table);
  for (const key of Object.keys(raw)) {
    if (raw[key] === undefined || options.includes(key)) continue;
    const fix = Object.hasOwn(words, key) ? words[key] : undefined;
    placeOf(key).note(`is no option here: ${fix ?? didYouMean(key, options, `the options are ${options.join(', ')}`)}`);
  }
  const parsed: Record<string, unknown> = {};
  for (const [key, { type, isRequired }] of Object.entries(table)) {
    if (raw[key] === undefined && isRequired !== true) continue;
    const value = type.read(raw[key], placeOf(key));
    if (value !== undefined) parsed[key] = value;
  }
  return Object.freeze(parsed) as Parsed<T>;
}

/** The same for the options of a call, which may be anything. `fix` says how to write them. */
export function readCallOptions<T extends OptionTable>(
  table: T,
  options: unknown,
  problems: string[],
  { fix, words, call = '' }: { readonly fix: string; readonly words?: OptionWords; readonly call?: string },
): Parsed<T> {
  const placeOf = (option: string): Place => new Place(`${call}${option}`, problems);
  if (isObject(options)) return readOptions(table, options, placeOf, words);
  placeOf('options').refuse(options, 'an object', fix);
  return {};
}

/** The values of all options of a table, with the defaults of those that are not given. */
export function withDefaults<T extends OptionTable>(table: T, parsed: Parsed<T>): WithDefaults<T> {
  const values: Record<string, unknown> = {};
  // by name: entries would be two objects for each option of each job
  for (const key of Object.keys(table)) {
    const row = table[key];
    values[row?.type.variable === 'duration' ? `${key}Ms` : key] = parsed[key] ?? row?.default;
  }
  return values as WithDefaults<T>;
}

/** The options that a variable can set. */
export function settable(table: OptionTable): readonly string[] {
  return Object.keys(table).filter((option) => table[option]?.type.variable !== 'none');
}

/** Whether it throws nothing: some functions say only by an error that they do not take a value. */
export function succeeds(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
