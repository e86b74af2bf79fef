import 'reflect-metadata';
import { InvalidOptionsError } from '../errors/index.js';
import { isRecord } from '../options/index.js';

/** What is read of, and written to, a module in the container of Nest. */
interface ModuleWithDistance {
  readonly metatype: unknown;
  distance?: number;
}

/** Marks our module class, so that a second copy of the package, whose class is another, counts as the same module. */
export const MODULE_MARK = Symbol.for('nestjs-singleton-job:module');

const FORGOTTEN_OPTIONS =
  "write SingletonJobModule.forRoot({ projectName: 'myapp', connection: 'redis://host:6379' }) there";

const ONCE =
  'keep one with options, in the root module, because each would run every job. It is global, so other modules need no import; ' +
  'to import it in two places, keep what forRoot() returns in a constant';

/**
 * The one module of ours in an application.
 *
 * @throws InvalidOptionsError if there are two, each of which would run every job, or if it was imported without `forRoot()`
 */
export function findOwnModule<M extends ModuleWithDistance>(modules: Iterable<M>): M | undefined {
  const all = [...modules];
  const ours = all.filter(({ metatype }) => isOurs(metatype));
  const imports = all.flatMap(({ metatype }) => importsOf(metatype));
  const places = imports.map(({ place, isBare }) => `in ${place} ${isBare ? 'without' : 'with'} options`).join(' and ');
  if (ours.length > 1) {
    const got = imports.length > 1 ? `it ${places}` : `${ours.length} of them`;
    throw new InvalidOptionsError([`SingletonJobModule must be imported once, got ${got}: ${ONCE}`]);
  }
  if (imports.length > 0 && imports.every(({ isBare }) => isBare)) {
    throw new InvalidOptionsError([
      `SingletonJobModule must be imported with options, got it ${places}: ${FORGOTTEN_OPTIONS}`,
    ]);
  }
  return ours[0];
}

function isOurs(metatype: unknown): boolean {
  return typeof metatype === 'function' && MODULE_MARK in metatype;
}

/** Where the decorator of a module class imports ours. What a dynamic module imports is not seen. */
function importsOf(metatype: unknown): readonly { readonly place: string; readonly isBare: boolean }[] {
  if (typeof metatype !== 'function') return [];
  const imported = (Reflect.getMetadata('imports', metatype) as readonly unknown[] | undefined) ?? [];
  return imported.flatMap((entry) => {
    const dynamic: unknown = isRecord(entry) ? entry['module'] : undefined;
    return isOurs(entry) || isOurs(dynamic) ? [{ place: metatype.name, isBare: isOurs(entry) }] : [];
  });
}

/**
 * Puts a module nearer than the root, so that Nest initialises it last and destroys it first: jobs start after, and stop
 * before, everything that they use, wherever the module is imported. False if this version of Nest does not let it.
 */
export function startLastStopFirst(module: ModuleWithDistance | undefined): boolean {
  if (module === undefined || typeof module.distance !== 'number') return false;
  try {
    module.distance = 0;
  } catch {
    // a getter without a setter throws
  }
  return module.distance === 0;
}
