import { isObject } from '../../base/text/describe-value.js';
import { type OptionType, type Place, readOptions, succeeds } from './option-table.js';
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
  read: (value, place) => {
    if (value === false) return undefined;
    if (value === true) return Object.freeze({});
    if (isObject(value)) return readOptions(PARTS, value, (key) => place.in(key));
    return place.refuse(value, 'true, false or { workerFile }', 'write true unless the application is bundled');
  },
};

/** Whether a thread can get a copy of this `connection`. */
export function checkThreadConnection(connection: unknown, place: Place): void {
  if (!succeeds(() => structuredClone(connection))) place.note(NO_THREAD);
}
