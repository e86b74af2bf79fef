import { AsyncLocalStorage } from 'node:async_hooks';

type RunInContext = <T>(act: () => T) => T;

/** The async contexts of callers in this process, by the id of their command. */
const contexts = new Map<string, RunInContext>();

/**
 * What the command leads to in this process runs in the present async context, such as a trace, until what `send`
 * returns settles.
 */
export function keepContext<T>(commandId: string, send: () => Promise<T>): Promise<T> {
  contexts.set(commandId, AsyncLocalStorage.snapshot());
  return send().finally(() => contexts.delete(commandId));
}

/** Runs in the context of the caller, if the command came from this process. */
export function inContextOf<T>(commandId: string, act: () => T): T {
  const run = contexts.get(commandId);
  return run === undefined ? act() : run(act);
}
