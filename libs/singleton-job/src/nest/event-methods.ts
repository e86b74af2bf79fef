import { didYouMean } from '../advice/suggest.js';
import { EVENT_NAMES } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { CLASSES_WITH_EVENTS, EVENTS } from '../jobs/on-job-event.js';
import { classNameOf } from '../jobs/prototype.js';
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

/** A line about classes whose methods with `@OnJobEvent` get nothing: no provider is of them. */
export function unheardClasses(providers: readonly ProviderRef[]): string | undefined {
  const isProvider = (type: object): boolean =>
    providers.some(({ prototype }) => prototype === type || Object.prototype.isPrototypeOf.call(type, prototype));
  const names = [...CLASSES_WITH_EVENTS].filter((type) => !isProvider(type)).map(classNameOf);
  if (names.length === 0) return undefined;
  return `these have methods with @OnJobEvent, and get no events here: ${names.join(', ')}. Add them to the providers of a module`;
}

function nameMistake(given: unknown): string | undefined {
  const name = String(given);
  if (EVENT_NAMES.includes(name)) return undefined;
  const fix = didYouMean(name, EVENT_NAMES, `the events are ${EVENT_NAMES.join(', ')}`);
  return `must have the name of an event, got '${name}': ${fix}`;
}
