import { types } from 'node:util';
import { type JobEvent, type JobEvents, type Notify } from './events.js';

/**
 * Receives the events of this replica. Implement the callbacks you need. {@link JobEvents} says when each one is
 * called, and when it is not. `onEvent` is called for every event, after the callback of that event.
 *
 * - A callback may throw or reject: jobs are not affected, and all observers get `observerFailed`.
 * - Its result is ignored and not awaited.
 * - Each callback gets its own copy of the payload.
 *
 * @example
 * const printing: JobObserver = { onEvent: ({ event, payload }) => console.log(event, payload) };
 */
export type JobObserver = EventCallbacks & {
  /** Called for every event, after the callback of that event. */
  onEvent?: (event: JobEvent) => unknown;
};

type EventCallbacks = { [E in keyof JobEvents]?: (event: JobEvents[E]) => unknown };

/**
 * A {@link Notify} that calls each observer in turn. Those of the library (`own`) come first. They get no copy, because
 * they change no payload.
 */
export function notifyAll(observers: readonly JobObserver[], own: readonly JobObserver[] = []): Notify {
  const notify: Notify = (event, payload) => {
    for (const callbacks of own as readonly EventCallbacks[]) {
      try {
        callbacks[event]?.(payload);
      } catch (error: unknown) {
        failed(event, error);
      }
    }
    for (const observer of observers) {
      const callbacks: EventCallbacks = observer;
      call(event, () => callbacks[event]?.(ownCopy(payload)));
      call(event, () => observer.onEvent?.({ event, payload: ownCopy(payload) } as JobEvent));
    }
  };

  function call(event: keyof JobEvents, callback: () => unknown): void {
    try {
      const returned = callback();
      // checked by its shape: a promise may come from another realm or from a promise library
      if (isThenable(returned)) Promise.resolve(returned).catch(failed.bind(undefined, event));
    } catch (error: unknown) {
      failed(event, error);
    }
  }

  function failed(event: keyof JobEvents, error: unknown): void {
    // a failure at observerFailed is not reported: it would never end
    if (event !== 'observerFailed') notify('observerFailed', { event, error });
  }

  return notify;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** A copy, because an observer could write to properties and dates at run time. Errors are not copied. */
function ownCopy<T extends object & { readonly toJSON?: () => unknown }>(payload: T): T {
  // a run
  if (payload.toJSON !== undefined) return payload.toJSON() as T;
  return Object.fromEntries(Object.entries(payload).map(([key, value]) => [key, ownDate(value)])) as T;
}

function ownDate(value: unknown): unknown {
  return types.isDate(value) ? new Date(value) : value;
}
