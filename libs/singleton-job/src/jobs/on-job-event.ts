import 'reflect-metadata';
import { type JobEvents } from '../base/events/events.js';

/** Decorates a method that takes the payload of the event, or nothing. */
export type JobEventDecorator<E extends keyof JobEvents> = <T extends (payload: JobEvents[E]) => unknown>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

// kept as the metadata of jobs is
const EVENTS = Symbol.for('nestjs-singleton-job:events');

type RecordedEvents = ReadonlyMap<string | symbol, readonly string[]>;

/**
 * Calls the method for each event of this name on this replica. The class must be a singleton provider or a controller. The method is
 * called as an observer is: nothing waits for it, and jobs are not affected if it throws or rejects. Then observers get `observerFailed`.
 * A method may have several of these decorators. The guide is docs/observability.md.
 *
 * @example
 * ```ts
 * @OnJobEvent('runFailed')
 * alert({ job, error }: JobEvents['runFailed']): void {
 *   this.pager.send(`${job} failed: ${String(error)}`);
 * }
 * ```
 */
export function OnJobEvent<E extends keyof JobEvents>(event: E): JobEventDecorator<E> {
  return (target, method) => {
    const own = ownEvents(target);
    Reflect.defineMetadata(EVENTS, new Map([...own, [method, [event, ...(own.get(method) ?? [])]]]), target);
  };
}

/** Every decorated member of `target` and its base classes, with the events of its last declaration. */
export function recordedEvents(target: object): RecordedEvents {
  const base = Object.getPrototypeOf(target) as object | null;
  return new Map([...(base === null ? [] : recordedEvents(base)), ...ownEvents(target)]);
}

function ownEvents(target: object): RecordedEvents {
  return (Reflect.getOwnMetadata(EVENTS, target) as RecordedEvents | undefined) ?? new Map<string, string[]>();
}
