import { type RedisConnectionOptions } from '../store/index.js';
import { isPlainObject, isRecord } from './describe-value.js';
import { OptionReader } from './option-reader.js';
import { type HeartbeatThreadOptions } from './singleton-job.options.js';

const WORKER_FILE_FIX = "write it as './dist/heartbeat-thread.js', or leave it out unless the application is bundled";

const NO_CLIENT =
  'must be a URL, or options without clients and functions, while heartbeatThread is set: ' +
  'a thread has its own connection, so pass a URL, or leave heartbeatThread out';

const NO_FUNCTION =
  'must not be a function while heartbeatThread is set: a thread has its own connection, and no function can be passed to it, ' +
  'so leave one of the two out';

/** Reads `heartbeatThread`, and checks that `connection` can be passed to a thread. Undefined: there is no thread. */
export function readHeartbeatThread(
  reader: OptionReader,
  connection: RedisConnectionOptions | undefined,
  problems: string[],
): Partial<HeartbeatThreadOptions> | undefined {
  const given = reader.get('heartbeatThread');
  if (given === undefined || given === false) return undefined;
  if (given !== true && !isRecord(given)) {
    reader.refuse('heartbeatThread', 'true, false or { workerFile }', 'write true unless the application is bundled');
    return undefined;
  }
  if (reader.get('store') !== undefined) {
    reader.note('heartbeatThread', 'needs Redis, got a store: leave one of the two out');
  } else if (!canBeCloned(connection)) {
    const place = functionIn(connection, 'connection');
    if (place === undefined) reader.note('connection', NO_CLIENT);
    else reader.note(place, NO_FUNCTION);
  }
  return Object.freeze(given === true ? {} : readFile(new OptionReader(given, 'heartbeatThread.', problems)));
}

function readFile(reader: OptionReader): Partial<HeartbeatThreadOptions> {
  reader.refuseUnknown(['workerFile']);
  if (reader.get('workerFile') === undefined) {
    reader.refuse('workerFile', 'the path or URL of a file', WORKER_FILE_FIX);
    return {};
  }
  const rule = { expected: 'the path or URL of a file', fix: WORKER_FILE_FIX };
  return { workerFile: reader.checked('workerFile', isFile, rule) };
}

function isFile(value: unknown): value is string | URL {
  return (typeof value === 'string' && value !== '') || value instanceof URL;
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

function canBeCloned(connection: RedisConnectionOptions | undefined): boolean {
  try {
    structuredClone(connection);
    return true;
  } catch {
    return false;
  }
}
