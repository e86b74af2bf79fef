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
 * A {@link Notify} that calls each observer in turn. Those of the library (`own`) come first.
 */
export function notifyAll(observers: readonly JobObserver[], own: readonly JobObserver[] = []): Notify {
  const notify: Notify = (event, payload) => {
    for (const observer of [...own, ...observers]) {
      const callbacks: EventCallbacks = observer;
      void call(event, () => callbacks[event]?.(ownCopy(payload)));
      void call(event, () => observer.onEvent?.({ event, payload: ownCopy(payload) } as JobEvent));
    }
  };

  async function call(event: keyof JobEvents, callback: () => unknown): Promise<void> {
    try {
      await callback();
    } catch (error: unknown) {
      // a failure at observerFailed is not reported: it would never end
      if (event !== 'observerFailed') notify('observerFailed', { event, error });
    }
  }

  return notify;
}

/** A copy, because an observer could write to properties and dates at run time. Errors are not copied. */
function ownCopy<T extends object>(payload: T): T {
  const copies = Object.entries(payload).map(([key, value]: [string, unknown]) => [
    key,
    types.isDate(value) ? new Date(value) : value,
  ]);
  return Object.fromEntries(copies) as T;
}
