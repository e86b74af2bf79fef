import { types } from 'node:util';
import { type JobEvents, type Notify } from './events.js';

/**
 * Watches the jobs of this replica. Implement the callbacks you need; {@link JobEvents} says when each is called and
 * when not. Observers are found when the application starts, after `onModuleInit` of every other module. What happens before that, to
 * a lock of `LockService` for example, reaches only the log and the diagnostics channels. A callback may throw or reject: the job does not notice, and the other observers are told `observerFailed`.
 * What it returns is ignored and not waited for, and what it does to the payload nobody else sees.
 */
export type JobObserver = { [E in keyof JobEvents]?: (event: JobEvents[E]) => unknown };

/** One {@link Notify} that tells every observer in turn. */
export function notifyAll(observers: readonly JobObserver[]): Notify {
  const notify: Notify = (event, payload) => {
    for (const observer of observers) tell(observer, event, payload);
  };

  function tell<E extends keyof JobEvents>(observer: JobObserver, event: E, payload: JobEvents[E]): void {
    const failed = (error: unknown): void => {
      // an observer that fails at hearing of failures is left alone, or it would never end
      if (event !== 'observerFailed') notify('observerFailed', { event, error });
    };
    try {
      const returned = observer[event]?.(ownCopy(payload));
      // by its shape: a promise may come from another realm, or from a library of its own
      if (isThenable(returned)) Promise.resolve(returned).catch(failed);
    } catch (error: unknown) {
      failed(error);
    }
  }

  return notify;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** Dates can be set and properties written, whatever the types say. Errors are handed on as they are. */
function ownCopy<T extends object>(payload: T): T {
  const copies = Object.entries(payload).map(([key, value]: [string, unknown]) => [
    key,
    types.isDate(value) ? new Date(value) : value,
  ]);
  return Object.fromEntries(copies) as T;
}
