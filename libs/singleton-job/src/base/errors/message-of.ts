import { inspect } from 'node:util';

/** More than this is no message but a document, and would flood a log. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_STACK_LENGTH = 10_000;

/**
 * What was thrown, on one line and not too long. Anything can be thrown, also what cannot be read: this never
 * throws.
 */
export function messageOf(thrown: unknown): string {
  const words = read(() => {
    // an error of several addresses has no message but a code
    const { message, code, name } = Object(thrown) as Partial<Record<'message' | 'code' | 'name', string | number>>;
    if (message === undefined) return inspect(thrown, { breakLength: Infinity, depth: 1 });
    return String(message === '' ? (code ?? name) : message);
  });
  return shortened((words ?? 'something that cannot be shown').replaceAll(/\s*[\r\n]\s*/g, ' '), MAX_MESSAGE_LENGTH);
}

/** A record and an overview keep so much of an error. */
export const MAX_ERROR_LENGTH = 200;
/** An error of a client is wrapped a few times at most. */
export const MAX_CAUSES = 5;

/**
 * The message of what was thrown and those of its causes, on one line: `fetch failed: connect ECONNREFUSED
 * 127.0.0.1:9`. If it is too long, the innermost cause is kept. Never throws.
 */
export function describeError(thrown: unknown, maxLength = MAX_MESSAGE_LENGTH): string {
  const messages = [messageOf(thrown)];
  let inner = causesOf(thrown);
  for (let depth = 0; inner.length > 0 && depth < MAX_CAUSES; depth++) {
    const message = [...new Set(inner.slice(0, MAX_CAUSES).map(messageOf))].join(', ');
    // most wrappers repeat what they wrap
    if (!messages.some((outer) => outer.includes(message))) messages.push(message);
    inner = causesOf(inner[0]);
  }
  const text = messages.join(': ');
  if (text.length <= maxLength) return text;
  const innermost = messages.at(-1) ?? '';
  const roomForOthers = maxLength - innermost.length - '…: '.length;
  if (messages.length === 1 || roomForOthers <= 0) return innermost.slice(0, maxLength);
  return `${text.slice(0, roomForOthers)}…: ${innermost}`;
}

/**
 * The errors that it wraps: its `cause`, that of the last node of a cluster, and those that `Promise.any()` and a host
 * of several addresses collect. Never throws.
 */
export function causesOf(thrown: unknown): readonly unknown[] {
  const causes = read(() => {
    const { cause, lastNodeError, errors } = Object(thrown) as Readonly<Record<string, unknown>>;
    return [cause, lastNodeError].concat(errors).filter((inner) => inner != null);
  });
  return causes ?? [];
}

/** Where it was thrown, if that is known. Never throws. */
export function stackOf(thrown: unknown): string | undefined {
  const stack = read(() => (thrown instanceof Error ? thrown.stack : undefined));
  return typeof stack === 'string' ? shortened(stack, MAX_STACK_LENGTH) : undefined;
}

function shortened(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/** Undefined if it throws: getters, proxies and methods of what was thrown are anybody's code. */
function read<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}
