/** Reports all wrong environment variables at start-up, in one error. */
export class InvalidEnvironmentError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The worker cannot start in this environment:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'InvalidEnvironmentError';
  }
}

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000 } as const;

/** Reads environment variables that are more than text, and collects the mistakes in them. */
export class Environment {
  readonly #problems: string[] = [];

  constructor(private readonly variables: Readonly<Record<string, string | undefined>>) {}

  wholeNumber(name: string, fallback: number): number {
    const text = this.variables[name];
    if (text === undefined) return fallback;
    if (/^\d{1,9}$/.test(text)) return Number(text);
    return this.#refuse(name, { expected: 'a whole number', fix: `write it as ${fallback}` }, fallback);
  }

  /** A duration such as `'800ms'`, `'2s'` or `'1m'`, in milliseconds. */
  milliseconds(name: string, fallback: `${number}${keyof typeof UNIT_MS}`): number {
    const text = this.variables[name] ?? fallback;
    const groups = /^(?<count>\d{1,9})(?<unit>ms|s|m)$/.exec(text)?.groups;
    if (groups !== undefined) return Number(groups['count']) * UNIT_MS[groups['unit'] as keyof typeof UNIT_MS];
    return this.#refuse(name, { expected: 'a duration', fix: `write it with its unit, as in ${fallback}` }, 0);
  }

  /** Whether the variable is set. It must then be an HTTP URL. */
  hasUrl(name: string, example: string): boolean {
    const text = this.variables[name];
    if (text === undefined) return false;
    if (URL.canParse(text) && /^https?:/.test(text)) return true;
    return this.#refuse(name, { expected: 'a URL of HTTP', fix: `write it as ${example}` }, false);
  }

  oneOf<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.variables[name] ?? fallback;
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    return this.#refuse(name, { expected: `one of ${choices.join(', ')}`, fix: 'use one of them' }, fallback);
  }

  /** @throws InvalidEnvironmentError with all mistakes so far */
  check(): void {
    if (this.#problems.length > 0) throw new InvalidEnvironmentError(this.#problems);
  }

  #refuse<T>(name: string, { expected, fix }: { expected: string; fix: string }, instead: T): T {
    const got = JSON.stringify(this.variables[name]);
    this.#problems.push(`${name} must be ${expected}, got ${got}: ${fix}, or unset it`);
    return instead;
  }
}
