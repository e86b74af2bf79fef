import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The path of the program of the thread. Undefined where this file has no path. In the built package this file may be
 * in the folder `shared`, beside that of the thread.
 *
 * The library is built in two formats from the same sources: `import.meta` is empty in CommonJS, and ES modules have no
 * `__filename`. The stack knows the file in both. In a bundle this is the file of the bundle, and the other one is
 * not beside it.
 */
export function programFile(): string | undefined {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  const fileOf = (_error: unknown, [site]: readonly NodeJS.CallSite[]) => site?.getFileName();
  try {
    Object.assign(Error, { stackTraceLimit: 1, prepareStackTrace: fileOf });
    const own: unknown = new Error().stack;
    if (typeof own !== 'string') return undefined;
    const path = own.startsWith('file:') ? fileURLToPath(own) : own;
    return join(dirname(path), '../heartbeat-thread', `index${extname(path)}`);
  } finally {
    Object.assign(Error, { stackTraceLimit, prepareStackTrace });
  }
}
