import { inspect } from 'node:util';

/** More than this is no message but a document, and would flood a log. */
const LONGEST_MESSAGE = 1_000;
const LONGEST_STACK = 10_000;

/**
 * What was thrown, on one line and not too long. Anything can be thrown, also what cannot be looked at: this never
 * throws.
 */
export function messageOf(thrown: unknown): string {
  const words = read(() => {
    // an error of several addresses has no message but a code
    const { message, code, name } = Object(thrown) as Partial<Record<'message' | 'code' | 'name', string | number>>;
    if (message === undefined) return inspect(thrown, { breakLength: Infinity, depth: 1 });
    return String(message === '' ? (code ?? name) : message);
  });
  return shortened((words ?? 'something that cannot be shown').replaceAll(/\s*[\r\n]\s*/g, ' '), LONGEST_MESSAGE);
}

/** Where it was thrown, if that is known. Never throws. */
export function stackOf(thrown: unknown): string | undefined {
  const stack = read(() => (thrown instanceof Error ? thrown.stack : undefined));
  return typeof stack === 'string' ? shortened(stack, LONGEST_STACK) : undefined;
}

function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** Undefined if it throws: getters, proxies and methods of what was thrown are anybody's code. */
function read<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
