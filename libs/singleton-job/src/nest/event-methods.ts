import { didYouMean } from '../advice/suggest.js';
import { EVENT_NAMES } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { EVENTS } from '../jobs/on-job-event.js';
import { decoratedMembers, type ProviderRef } from './decorated-methods.js';

/** The methods of a provider with `@OnJobEvent`, as observers. Mistakes are noted and left out. */
export function eventMethodsOf(provider: ProviderRef, problems: string[]): readonly JobObserver[] {
  return decoratedMembers(provider, EVENTS).flatMap(({ location, recorded, invoke, mistake }) => {
    const wrong = mistake ?? recorded.map(nameMistake).find(Boolean);
    if (wrong === undefined) return recorded.map((event): JobObserver => ({ [event]: invoke }));
    problems.push(`${location}: @OnJobEvent ${wrong}`);
    return [];
  });
}

function nameMistake(given: unknown): string | undefined {
  const name = String(given);
  if (EVENT_NAMES.includes(name)) return undefined;
  const fix = didYouMean(name, EVENT_NAMES, `the events are ${EVENT_NAMES.join(', ')}`);
  return `must have the name of an event, got '${name}': ${fix}`;
}
