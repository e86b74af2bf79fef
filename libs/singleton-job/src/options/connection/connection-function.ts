import { messageOf } from '../../base/errors/message-of.js';
import { ConnectionFunctionError } from '../../base/errors/store.error.js';
import { removeSecrets, withoutSecrets } from '../../base/text/secrets.js';
import { type ConnectionOptions, kindOf, type ReadConnection } from '../../store/open-store.js';
import { Place } from '../table/option-table.js';
import { readConnection } from './connection-option.js';

/** Longer than a service for secrets takes to answer. Nothing leads yet at start-up. */
export const START_LIMIT_MS = 10_000;
/** A leader has 6 s left when its connection breaks: time for a second call, and to connect. */
const LIMIT_MS = 3_000;
/** A failure counts for so long: a service for secrets that is down is not called for every attempt of every client. */
const FAILURE_COUNTS_MS = 1_000;

/**
 * Calls a `connection` that is a function. Rejects if it fails, or does not answer in time: a client would wait for it
 * for ever.
 */
export async function callConnection(connection: () => unknown, limitMs = LIMIT_MS): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, limitMs, new Error(`it did not answer within ${limitMs / 1_000} s`));
  });
  try {
    return await Promise.race([Promise.resolve().then(connection), tooLate]);
  } catch (error: unknown) {
    removeSecrets(error);
    const message = `connection is a function, and it failed: ${withoutSecrets(messageOf(error))}`;
    throw new ConnectionFunctionError(message, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads it for each new client. Clients that call at the same time share a call. An answer may be refused, so it is not
 * kept.
 */
export function readForEachClient(connection: () => unknown, first: ConnectionOptions | undefined): ReadConnection {
  let latest: Promise<ConnectionOptions> | undefined;
  const forget = () => (latest = undefined);
  return () => {
    if (latest !== undefined) return latest;
    latest = callConnection(connection).then((value) => checked(value, placeOf(first)));
    latest.then(forget, () => setTimeout(forget, FAILURE_COUNTS_MS).unref());
    return latest;
  };
}

function checked(value: unknown, kind: string): ConnectionOptions {
  const problems: string[] = [];
  const connection = readConnection(value, new Place('what the function connection returns', problems));
  const kindNow = placeOf(connection);
  // its client would connect to localhost
  if (problems.length === 0 && kindNow !== kind)
    problems.push(`what the function connection returns must stay ${kind}, got ${kindNow}: restart to change it`);
  if (connection === undefined || problems.length > 0) throw new ConnectionFunctionError(problems.join('; '));
  return connection;
}

function placeOf(connection: ConnectionOptions | undefined): string {
  const kind = connection && kindOf(connection);
  if (kind !== 'Redis') return `a ${String(kind)}`;
  return typeof connection === 'object' && 'nodes' in connection ? 'a Redis Cluster' : 'one Redis server';
}
