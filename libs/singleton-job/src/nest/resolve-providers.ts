import { JOB_EVENTS } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { isClass } from '../base/text/describe-value.js';
import { methodsOf } from '../jobs/prototype.js';
import { editDistance, suggest } from '../base/text/suggest.js';
import { type ExtensionClass } from '../options/singleton-job.options.js';

interface ExtensionLookup {
  /** The name of the option: `observers`. */
  readonly what: string;
  /** The instance of a class in the application. Throws if the class is no provider or no singleton. */
  readonly lookUp: <T>(extension: ExtensionClass<T>) => T;
}

const CALLBACKS: readonly string[] = [...Object.keys(JOB_EVENTS), 'onEvent'];

/** Notes the observers that handle no event. */
export function checkObservers(observers: readonly JobObserver[], problems: string[]): void {
  for (const observer of observers) {
    if (CALLBACKS.some((name) => handles(observer, name))) continue;
    const fix = 'name a method after an event, such as runFailed, or onEvent for all';
    problems.push(`observers must handle an event, got ${describeObserver(observer)}, which handles none: ${fix}`);
  }
}

/** Warnings about methods of observers that are probably meant for an event: a wrong name is never called. */
export function misspeltCallbacks(observers: readonly JobObserver[]): string[] {
  return observers.flatMap((observer) => {
    const missing = CALLBACKS.filter((name) => !handles(observer, name));
    const others = [...methodsOf(observer).keys()].filter((name) => !CALLBACKS.includes(name));
    return others.flatMap((name) => {
      const meant = suggest(name, missing, 2);
      // helpers such as toEvent and logEvent are two letters away from onEvent
      if (meant === 'onEvent' && editDistance(name.toLowerCase(), meant.toLowerCase()) > 1) return [];
      return meant === undefined
        ? []
        : `the observer ${describeObserver(observer)} has a method '${name}', which is no event: did you mean '${meant}'?`;
    });
  });
}

function handles(observer: JobObserver, name: string): boolean {
  return typeof Reflect.get(observer, name) === 'function';
}

function describeObserver({ constructor: { name } }: object): string {
  return name === 'Object' ? 'an object' : name;
}

/** The extensions in the options. A class is replaced by its instance in the application. Mistakes are noted and left out. */
export function resolveProviders<T extends object>(
  extensions: readonly (T | ExtensionClass<T>)[],
  { what, lookUp }: ExtensionLookup,
  problems: string[],
): readonly T[] {
  return extensions.flatMap((extension) => {
    if (!isClass(extension)) return extension;
    try {
      return lookUp(extension);
    } catch {
      const fix = `add ${extension.name} to the providers of a module, without a scope, or pass an instance`;
      problems.push(`${what} must be instances or singleton providers, got the class ${extension.name}: ${fix}`);
      return [];
    }
  });
}
