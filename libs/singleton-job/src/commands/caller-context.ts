import { AsyncLocalStorage } from 'node:async_hooks';
import { detached } from '../base/time/detached.js';

export type RunInContext = <T>(act: () => T) => T;

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

/** Calls a function in the context of the caller, if the command came from this process, otherwise in an empty one. */
export function contextOf(commandId: string): RunInContext {
  return contexts.get(commandId) ?? detached;
}
