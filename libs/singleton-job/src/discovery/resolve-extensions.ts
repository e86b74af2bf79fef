import { isClass, type ExtensionClass } from '../options/index.js';

interface ExtensionLookup {
  /** What they are called in the options: `observers`. */
  readonly what: string;
  /** The instance that the application has of a class. Throws for what is no provider or no singleton. */
  readonly lookUp: <T>(extension: ExtensionClass<T>) => T;
}

/** What the options name; classes are replaced by the instance that the application has of them. Others are noted and left out. */
export function resolveExtensions<T extends object>(
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
