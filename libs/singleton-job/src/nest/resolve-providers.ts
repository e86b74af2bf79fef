import { JOB_EVENTS } from '../base/events/events.js';
import { type JobObserver } from '../base/events/observer.js';
import { isClass } from '../options/describe-value.js';
import { methodNamesOf } from '../jobs/prototype.js';
import { suggest } from '../options/suggest.js';
import { type ExtensionClass } from '../options/singleton-job.options.js';

interface ExtensionLookup {
  /** The name of the option: `observers`. */
  readonly what: string;
  /** The instance of a class in the application. Throws if the class is no provider or no singleton. */
  readonly lookUp: <T>(extension: ExtensionClass<T>) => T;
}

/** Notes the observers that handle no event, or have a method that is probably meant for one: a wrong name is never called. */
export function checkObservers(observers: readonly JobObserver[], problems: string[]): void {
  const names: readonly string[] = [...Object.keys(JOB_EVENTS), 'onEvent'];
  for (const observer of observers) {
    const missing = names.filter((name) => typeof Reflect.get(observer, name) !== 'function');
    const shown = describeObserver(observer);
    if (missing.length === names.length) {
      const fix = 'name a method after an event, such as runFailed, or onEvent for all';
      problems.push(`observers must handle an event, got ${shown}, which handles none: ${fix}`);
      continue;
    }
    for (const method of methodNamesOf(observer)) {
      const meant = names.includes(method) ? undefined : suggest(method, missing, MOST_EDITS);
      if (meant !== undefined) problems.push(`observers: ${shown}.${method} is no event: did you mean '${meant}'?`);
    }
  }
}

/** A method of an observer may be a helper. This few wrong letters are a misspelling. */
const MOST_EDITS = 2;

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
