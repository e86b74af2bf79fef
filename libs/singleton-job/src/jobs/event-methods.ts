import { EVENTS } from './on-job-event.js';
import { type JobObserver } from '../base/events/observer.js';
import { callOf, placeMistake, type ProviderRef, scopeMistake } from './found-method.js';
import { classOf } from './prototype.js';

/** The methods of a provider with `@OnJobEvent`, as observers. Mistakes are noted and left out. */
export function eventMethodsOf(provider: ProviderRef, problems: string[]): readonly JobObserver[] {
  const { prototype } = provider;
  return [prototype, classOf(prototype)].flatMap((target) =>
    [...EVENTS.of(target)].flatMap(([member, events]) => {
      const mistake =
        placeMistake('@OnJobEvent', target, member, 'payload') ?? scopeMistake(provider, '@OnJobEvent', 'method');
      if (mistake !== undefined) {
        problems.push(`${locationOf(prototype, member)}: ${mistake}`);
        return [];
      }
      return events.map((event): JobObserver => ({ [event]: callOf(provider, member) }));
    }),
  );
}

/** A decorator on a class has no member. */
function locationOf(prototype: object, member: string | symbol | undefined): string {
  const { name } = classOf(prototype);
  return member === undefined ? name : `${name}.${String(member)}`;
}
