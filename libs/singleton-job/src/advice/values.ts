const EMPTY = "it is empty: set the variable that it comes from, or write || in place of ??, which keeps ''";

/** How to turn a value into a text. Undefined: it is none that has a text of its own. */
export function asTextFix(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? `write String(${value})` : undefined;
}

/** What is wrong with a value of whatever option. Undefined: nothing that is known. */
export function valueFix(value: unknown): string | undefined {
  if (value === '') return EMPTY;
  if (typeof value === 'number' && Number.isNaN(value)) return 'look where it is computed; Number(undefined) is NaN';
  if (typeof value !== 'string') return undefined;
  if (/[\r\n]\s*$/.test(value)) return 'it ends in a line break, as a file does: trim it';
  if (value !== value.trim()) return 'it has a space at an end: trim it';
  const fix = quotesFix(value);
  if (fix !== undefined) return fix;
  if (/^(undefined|null|NaN|\[object \w+\])$/.test(value)) return 'it was made of a value that was not there yet';
  return /^\$\{?\w+\}?$/.test(value) ? 'it is the name of a variable, which nothing has replaced' : undefined;
}

/** `docker --env-file` keeps the quotes that other readers of such a file remove. */
export function quotesFix(text: string): string | undefined {
  return /^(["'`]).*\1$/s.test(text) ? 'it has quotes around it: leave them out' : undefined;
}
