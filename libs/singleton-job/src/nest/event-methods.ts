import { type JobObserver } from '../base/events/observer.js';
import { EVENTS } from '../jobs/on-job-event.js';
import { decoratedMembers, type ProviderRef } from './decorated-methods.js';

/** The methods of a provider with `@OnJobEvent`, as observers. Mistakes are noted and left out. */
export function eventMethodsOf(provider: ProviderRef, problems: string[]): readonly JobObserver[] {
  return decoratedMembers(provider, EVENTS).flatMap(({ location, recorded, invoke, mistake }) => {
    const wrong = mistake('@OnJobEvent', 'method', 'payload');
    if (wrong === undefined) return recorded.map((event): JobObserver => ({ [event]: invoke }));
    problems.push(`${location}: ${wrong}`);
    return [];
  });
}
