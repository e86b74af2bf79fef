import { isClass, type ExtensionClass } from '../options/index.js';

export interface ExtensionLookup {
  /** What they are called in the options: `observers`. */
  readonly what: string;
  /** The instance that the application has of a class. Throws for what is no provider or no singleton. */
  readonly lookUp: <T>(part: ExtensionClass<T>) => T;
}

/** What the options name; classes are replaced by the instance that the application has of them. Others are noted and left out. */
export function resolveExtensions<T extends object>(
  parts: readonly (T | ExtensionClass<T>)[],
  { what, lookUp }: ExtensionLookup,
  problems: string[],
): readonly T[] {
  return parts.flatMap((part) => {
    if (!isClass(part)) return part;
    try {
      return lookUp(part);
    } catch {
      const fix = `add ${part.name} to the providers of a module, without a scope, or pass an instance`;
      problems.push(`${what} must be instances or singleton providers, got the class ${part.name}: ${fix}`);
      return [];
    }
  });
}
