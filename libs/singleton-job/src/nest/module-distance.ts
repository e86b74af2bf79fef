import 'reflect-metadata';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { isObject } from '../base/text/describe-value.js';

/** The fields of a module in the container of Nest that are used here. */
interface ModuleWithDistance {
  readonly metatype: unknown;
  distance?: number;
}

/** Marks `SingletonJobModule`. A second copy of the package has another class, but counts as the same module. */
export const MODULE_MARK = Symbol.for('nestjs-singleton-job:module');

const FORGOTTEN_OPTIONS =
  "write SingletonJobModule.forRoot({ projectName: 'myapp', connection: 'redis://host:6379' }) there";

const FIX_OF_TWICE_IMPORTED =
  'keep one with options, in the root module, because each would run every job. It is global, so other modules need no import; ' +
  'to import it in two places, keep what forRoot() returns in a constant';

/**
 * The `SingletonJobModule` of an application. Undefined: it has none.
 *
 * @throws InvalidOptionsError if there are two, because each would run every job, or if it was imported without
 * `forRoot()`
 */
export function findOwnModule<M extends ModuleWithDistance>(modules: Iterable<M>): M | undefined {
  const all = [...modules];
  const found = all.filter(({ metatype }) => isSingletonJobModule(metatype));
  const imports = all.flatMap(({ metatype }) => importsOf(metatype));
  const places = imports.map(({ place, isBare }) => `in ${place} ${isBare ? 'without' : 'with'} options`).join(' and ');
  if (found.length > 1) {
    const got = imports.length > 1 ? `it ${places}` : `${found.length} of them`;
    throw new InvalidOptionsError([`SingletonJobModule must be imported once, got ${got}: ${FIX_OF_TWICE_IMPORTED}`]);
  }
  if (imports.length > 0 && imports.every(({ isBare }) => isBare)) {
    throw new InvalidOptionsError([
      `SingletonJobModule must be imported with options, got it ${places}: ${FORGOTTEN_OPTIONS}`,
    ]);
  }
  return found[0];
}

function isSingletonJobModule(metatype: unknown): boolean {
  return typeof metatype === 'function' && MODULE_MARK in metatype;
}

/**
 * The places where the `@Module()` of a class imports `SingletonJobModule`. Imports of dynamic modules are not seen.
 */
function importsOf(metatype: unknown): readonly { readonly place: string; readonly isBare: boolean }[] {
  if (typeof metatype !== 'function') return [];
  const imported = (Reflect.getMetadata('imports', metatype) as readonly unknown[] | undefined) ?? [];
  return imported.flatMap((entry) => {
    const dynamic: unknown = isObject(entry) ? entry['module'] : undefined;
    const isBare = isSingletonJobModule(entry);
    return isBare || isSingletonJobModule(dynamic) ? [{ place: metatype.name, isBare }] : [];
  });
}

/**
 * Sets the distance of a module below that of the root module. Then Nest initialises it last and destroys it first,
 * wherever it is imported. So jobs start after everything that they use, and stop before it. False: this version of
 * Nest does not allow it.
 */
export function startLastStopFirst(module: ModuleWithDistance | undefined): boolean {
  return typeof module?.distance === 'number' && Reflect.set(module, 'distance', 0) && module.distance === 0;
}
