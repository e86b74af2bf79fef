import { describeValue } from './describe-value.js';
import { durationFix, formatDuration, parseDuration } from './duration.js';
import { didYouMean } from './suggest.js';
import { type OptionVariables, variableOf, variablesOf } from './variables.js';

/** A larger number was hardly meant as seconds. */
const MOST_SECONDS = 100;

/**
 * Reads options one by one. It notes each mistake instead of throwing, so that all mistakes are reported at once. An option that is
 * missing, undefined or wrong reads as undefined.
 */
export class OptionReader {
  readonly #raw: Readonly<Record<string, unknown>>;

  /** `prefix` is the place of the options. Messages write it before the name of an option. */
  constructor(
    raw: object,
    private readonly prefix: string,
    private readonly problems: string[],
  ) {
    this.#raw = raw as Record<string, unknown>;
  }

  /** The raw value of the option. */
  get(key: string): unknown {
    return this.#raw[key];
  }

  /** Notes a mistake in one sentence: what is wrong, and the fix. */
  note(key: string, sentence: string): void {
    const variable = this.variableOf(key);
    this.problems.push(`${variable === undefined ? this.prefix : `${variable}: `}${key} ${sentence}`);
  }

  /** The variables that options were read from. Undefined: none were. */
  get variables(): OptionVariables | undefined {
    return variablesOf(this.#raw);
  }

  /** The variable that the option was read from. Undefined: it was given in code. */
  variableOf(key: string): string | undefined {
    return variableOf(this.#raw, key);
  }

  refuse(key: string, expected: string, fix: string): void {
    this.note(key, `must be ${expected}, got ${describeValue(this.get(key))}: ${fix}`);
  }

  /** The milliseconds of a duration. `leastMs` of 0 allows zero. */
  duration(key: string, leastMs = 1, mostMs = Infinity): number | undefined {
    const value = this.get(key);
    if (value === undefined) return undefined;
    const ms = parseDuration(value);
    if (ms === undefined) {
      this.refuse(key, "a duration such as 500 (milliseconds), '500ms', '3s' or '5m'", durationFix(value));
      return undefined;
    }
    if (ms >= leastMs && ms <= mostMs) return ms;
    const [expected, fix] =
      ms < leastMs
        ? [`at least ${formatDuration(leastMs)}`, raiseFix(value, leastMs)]
        : [`at most ${formatDuration(mostMs)}`, 'lower it'];
    this.note(key, `must be ${expected}, got ${formatDuration(ms)}: ${fix}`);
    return undefined;
  }

  /** The milliseconds of a duration, or false for never. */
  durationOrFalse(key: string): number | false | undefined {
    const value = this.get(key);
    if (value === undefined || value === false) return value;
    const ms = parseDuration(value);
    if (ms !== undefined && ms > 0) return ms;
    // zero turns things off elsewhere
    const fix = ms === undefined ? durationFix(value) : 'write false for never';
    this.refuse(key, "a duration such as '8s', or false", fix);
    return undefined;
  }

  boolean(key: string): boolean | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === 'boolean') return value;
    const fix =
      this.variableOf(key) !== undefined
        ? 'write true or false, or unset it'
        : typeof value === 'string'
          ? `convert the string first, as in process.env.NAME ${value === 'false' ? "!== 'false'" : "=== 'true'"}`
          : 'pass a boolean, or leave the option out';
    this.refuse(key, 'true or false', fix);
    return undefined;
  }

  /** The value, if it passes `is`. */
  checked<T>(key: string, is: (value: unknown) => value is T, rule: Rule): T | undefined {
    const value = this.get(key);
    if (value === undefined || is(value)) return value;
    this.refuse(key, rule.expected, typeof rule.fix === 'string' ? rule.fix : rule.fix(value));
    return undefined;
  }

  /**
   * Notes every option that is not `known`, and every variable that sets no option. `fixes` has the fix for names that people expect
   * here.
   */
  refuseUnknown(known: readonly string[], fixes: Readonly<Record<string, string>> = {}): void {
    this.problems.push(...(this.variables?.problems ?? []));
    for (const key of Object.keys(this.#raw)) {
      if (known.includes(key) || this.get(key) === undefined) continue;
      const fix = Object.hasOwn(fixes, key) ? fixes[key] : undefined;
      const sentence = fix ?? didYouMean(key, known, `the options are ${known.join(', ')}`);
      this.note(key, `is no option here: ${sentence}`);
    }
  }
}

/** A small number may have been meant as seconds. */
function raiseFix(value: unknown, leastMs: number): string {
  const isMeantAsSeconds = typeof value === 'number' && value < MOST_SECONDS && 1_000 * value >= leastMs;
  return isMeantAsSeconds ? `a number means milliseconds, write '${value}s' for seconds` : 'raise it';
}

interface Rule {
  readonly expected: string;
  readonly fix: string | ((value: unknown) => string);
}
