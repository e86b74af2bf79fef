import { type JobEvents } from '../base/events/events.js';
import { type JobDecorator } from './job.decorators.js';
import { MemberMetadata } from './member-metadata.js';

/** The names of events. */
export const EVENTS = new MemberMetadata<string>('events');
/** The prototypes of all classes with such a method, of which an application may lack one. */
export const CLASSES_WITH_EVENTS = new Set<object>();

/**
 * Calls the method for each event of this name on this replica. The class must be a singleton provider or a controller.
 * The method is called as an observer is: nothing waits for it, and jobs are not affected if it throws or rejects. Then
 * observers get `observerFailed`. A method may have several of these decorators. The guide is docs/observability.md.
 *
 * @example
 * ```ts
 * @OnJobEvent('runFailed')
 * alert({ job, error }: JobEvents['runFailed']): void {
 *   this.pager.send(`${job} failed: ${String(error)}`);
 * }
 * ```
 */
export function OnJobEvent<E extends keyof JobEvents>(event: E): JobDecorator<JobEvents[E]> {
  return (target, method) => {
    EVENTS.record(target, method, event);
    // a decorator of a static member gets the class, and is a mistake
    if (typeof target === 'object') CLASSES_WITH_EVENTS.add(target);
  };
}
