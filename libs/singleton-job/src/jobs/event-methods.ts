import { EVENTS } from './on-job-event.js';
import { JOB_EVENTS } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { describeValue } from '../base/text/describe-value.js';
import { didYouMean } from '../base/text/suggest.js';
import { callOf, placeMistake, type ProviderRef, scopeMistake } from './found-method.js';
import { classOf } from './prototype.js';

const SEE = 'JobEvents has their names';

/** The methods of a provider with `@OnJobEvent`, as observers. Mistakes are noted and left out. */
export function eventMethodsOf(provider: ProviderRef, problems: string[]): readonly JobObserver[] {
  const { prototype } = provider;
  return [prototype, classOf(prototype)].flatMap((target) =>
    [...EVENTS.of(target)].flatMap(([member, events]) => {
      const mistake =
        placeMistake('@OnJobEvent', target, member, 'payload') ??
        scopeMistake(provider, '@OnJobEvent', 'method') ??
        nameMistake(events);
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

function nameMistake(events: readonly unknown[]): string | undefined {
  const names = Object.keys(JOB_EVENTS);
  const unknown = events.find((event) => !names.includes(event as string));
  if (unknown === undefined) return undefined;
  const fix = typeof unknown === 'string' ? didYouMean(unknown, names, SEE) : SEE;
  return `@OnJobEvent must name an event, got ${describeValue(unknown)}: ${fix}`;
}
