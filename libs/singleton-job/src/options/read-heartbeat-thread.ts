import { type ConnectionOptions } from '../store/open-store.js';
import { isPlainObject, isRecord } from '../base/text/describe-value.js';
import { OptionReader, type Place, type Reader, withDefaults } from './option-reader.js';
import { matching } from './readers.js';
import { type HeartbeatThreadOptions } from './singleton-job.options.js';

const WORKER_FILE_FIX = "write it as './dist/heartbeat-thread.js', or leave it out unless the application is bundled";

const NO_CLIENT =
  'must be a URL, or options without clients and functions, while heartbeatThread is set: ' +
  'a thread has its own connection, so pass a URL, or leave heartbeatThread out';

const NO_FUNCTION =
  'must not be a function while heartbeatThread is set: a thread has its own connection, and no function can be passed to it, ' +
  'so leave one of the two out';

const isFile = (value: unknown): value is string | URL =>
  (typeof value === 'string' && value !== '') || value instanceof URL;

const THREAD_OPTIONS = {
  workerFile: { read: matching(isFile, 'the path or URL of a file', WORKER_FILE_FIX), isRequired: true },
} as const;

/** Reads `heartbeatThread`. Undefined: there is no thread. Without a `workerFile` the file is beside the library. */
export const readHeartbeatThread: Reader<Partial<HeartbeatThreadOptions>> = (value, at) => {
  if (value === false) return undefined;
  if (value === true) return Object.freeze({});
  if (!isRecord(value))
    return at.refuse(value, 'true, false or { workerFile }', 'write true unless the application is bundled');
  const reader = new OptionReader({ raw: value, prefix: `${at.path}.` }, at.problems);
  return Object.freeze(withDefaults(THREAD_OPTIONS, reader.read(THREAD_OPTIONS)));
};

/** Notes a `connection` that cannot be passed to a thread. */
export function checkThreadConnection(connection: ConnectionOptions | undefined, at: Place): void {
  if (canBeCloned(connection)) return;
  const path = functionIn(connection, at.path);
  if (path === undefined) at.note(NO_CLIENT);
  else at.problems.push(`${path} ${NO_FUNCTION}`);
}

/** The path of the first function in nested lists and objects. Undefined: there is none. */
function functionIn(value: unknown, place: string): string | undefined {
  if (typeof value === 'function') return place;
  if (!Array.isArray(value) && !isPlainObject(value)) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    const found = functionIn(entry, Array.isArray(value) ? `${place}[${key}]` : `${place}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function canBeCloned(connection: ConnectionOptions | undefined): boolean {
  try {
    structuredClone(connection);
    return true;
  } catch {
    return false;
  }
}
