import { InvalidOptionsError } from '../errors/index.js';

/** What is read of, and written to, a module in the container of Nest. */
interface ModuleWithDistance {
  readonly metatype: unknown;
  distance?: number;
}

/** Marks our module class, so that a second copy of the package, whose class is another, counts as the same module. */
export const MODULE_MARK = Symbol.for('nestjs-singleton-job:module');

/**
 * The one module of ours in an application.
 *
 * @throws InvalidOptionsError if there are two: each would run every job
 */
export function findOwnModule<M extends ModuleWithDistance>(modules: Iterable<M>): M | undefined {
  const ours = [...modules].filter(({ metatype }) => typeof metatype === 'function' && MODULE_MARK in metatype);
  if (ours.length > 1) {
    const fix =
      'call forRoot() or forRootAsync() once, in the root module; it is global, and to import it in two places ' +
      'keep what the call returns in a constant';
    throw new InvalidOptionsError([
      `SingletonJobModule must be imported once, got ${ours.length} of them, each of which would run every job: ${fix}`,
    ]);
  }
  return ours[0];
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
