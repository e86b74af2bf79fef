import { isClass } from '../options/describe-value.js';
import { type ExtensionClass } from '../options/singleton-job.options.js';

interface ExtensionLookup {
  /** The name of the option: `observers`. */
  readonly what: string;
  /** The instance of a class in the application. Throws if the class is no provider or no singleton. */
  readonly lookUp: <T>(extension: ExtensionClass<T>) => T;
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
