import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The path of another file of the library, by its place beside this folder and without its extension. In the built package this folder is
 * `shared`. Undefined where this file has no path.
 *
 * The library is compiled twice from the same sources: `import.meta` does not compile to CommonJS, and ES modules have no `__filename`.
 * The stack knows the file in both. In a bundle this is the file of the bundle, and the other one is not beside it.
 */
export function libraryFile(place: string): string | undefined {
  const own = callSite()?.getFileName();
  if (typeof own !== 'string') return undefined;
  const path = own.startsWith('file:') ? fileURLToPath(own) : own;
  return join(dirname(path), '..', `${place}${extname(path)}`);
}

/** Where this function is called, which is in this file. */
function callSite(): NodeJS.CallSite | undefined {
  const { stackTraceLimit } = Error;
  const prepareStackTrace: unknown = Reflect.get(Error, 'prepareStackTrace');
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_error, sites) => sites[0];
    return new Error().stack as NodeJS.CallSite | undefined;
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}
