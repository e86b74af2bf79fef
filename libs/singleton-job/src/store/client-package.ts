import { messageOf } from '../base/errors/message-of.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';

/** Loads the package of a client when it is first needed, and once: Jest imports nothing between two tests. */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => (loaded ??= load());
}

/** The error for the package of a client that could not be loaded. */
export function loadError(name: string, cause: unknown): unknown {
  if (!new RegExp(`Cannot find (package|module) '${name}'`).test(messageOf(cause))) return cause;
  const problem = `connection needs the package '${name}', which is not installed: run npm install ${name}`;
  return new InvalidOptionsError([problem], { cause });
}
