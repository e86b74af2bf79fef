import { succeeds } from './succeeds.js';
import { isPlainObject, isObject } from '../base/text/describe-value.js';
import { type OptionType, type Place, readOptions } from './option-table.js';
import { fromCode, matching } from './option-types.js';

const WORKER_FILE_FIX = "write it as './dist/heartbeat-thread.js', or leave it out unless the application is bundled";

const NO_THREAD =
  'cannot be passed to the heartbeat thread, which has its own connection: ' +
  'pass a URL, or options without clients and functions, or leave heartbeatThread out';

const isFile = (value: unknown): value is string | URL =>
  (typeof value === 'string' && value !== '') || value instanceof URL;

const workerFile = fromCode('file', matching(isFile, 'the path or URL of a file', WORKER_FILE_FIX));
const PARTS = { workerFile: { type: workerFile, isRequired: true } } as const;

/** `false` gives nothing: there is no thread. Without a `workerFile` the file is beside the library. */
export const heartbeatThread: OptionType<{ readonly workerFile?: string | URL }, 'boolean'> = {
  name: 'boolean or object',
  variable: 'boolean',
  read: (value, at) => {
    if (value === false) return undefined;
    if (value === true) return Object.freeze({});
    if (isObject(value)) return readOptions(PARTS, value, (key) => at.in(key));
    return at.refuse(value, 'true, false or { workerFile }', 'write true unless the application is bundled');
  },
};

/** Notes the part of a `connection` that cannot be passed to a thread. */
export function checkThreadConnection(connection: unknown, at: Place): void {
  const isPassable = (value: unknown): boolean => succeeds(() => structuredClone(value));
  if (isPassable(connection)) return;
  const parts = Array.isArray(connection) || isPlainObject(connection) ? Object.entries(connection) : [];
  const [key, part] = parts.find(([, value]) => !isPassable(value)) ?? [];
  if (key === undefined) at.note(NO_THREAD);
  else checkThreadConnection(part, at.in(key));
}
