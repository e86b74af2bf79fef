import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { messageOf } from '../base/errors/message-of.js';
import { type ConnectionOptions, isPostgres, type ReadConnection } from '../store/open-store.js';
import { isRecord } from './describe-value.js';
import { Place } from './option-reader.js';
import { readConnection } from './read-connection.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';

/** Longer than a service for secrets takes to answer. */
const ANSWER_LIMIT_MS = 10_000;

/**
 * {@link resolveOptions} for options whose `connection` may be a function. It is called once now, so that what it returns is checked at
 * start-up, and again for each new client.
 *
 * @throws InvalidOptionsError with every mistake, or if the function fails
 */
export async function resolveModuleOptions(raw: unknown): Promise<ResolvedOptions> {
  if (!isRecord(raw) || typeof raw['connection'] !== 'function') return resolveOptions(raw);
  const { connection: read, ...others } = raw;
  // a store wins, so that nothing needs the connection
  if (others['store'] !== undefined) return resolveOptions(others);
  const call = callOf(read as () => unknown);
  let connection: unknown;
  try {
    connection = await call();
  } catch (error: unknown) {
    // an application without jobs starts all the same
    if (problemsOf(others).length === 0) return resolveOptions(others);
    throw new InvalidOptionsError([messageOf(error), ...problemsOf({ ...raw, connection: {} })], { cause: error });
  }
  const options = resolveOptions({ ...raw, connection });
  const readAgain = async () => checked(await call(), options.connection);
  return Object.freeze({ ...options, readConnection: readAgain satisfies ReadConnection });
}

function problemsOf(raw: unknown): readonly string[] {
  try {
    resolveOptions(raw);
    return [];
  } catch (error: unknown) {
    if (error instanceof InvalidOptionsError) return error.problems;
    throw error;
  }
}

/** Rejects if the function fails, or does not answer in time. */
function callOf(read: () => unknown): () => Promise<unknown> {
  return async () => {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      const why = new Error(`it did not answer within ${ANSWER_LIMIT_MS / 1_000} s`);
      timer = setTimeout(reject, ANSWER_LIMIT_MS, why);
    });
    try {
      return await Promise.race([Promise.resolve().then(read), tooLate]);
    } catch (error: unknown) {
      throw new Error(`connection is a function, and it failed: ${messageOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
}

function checked(value: unknown, first: ConnectionOptions | undefined): ConnectionOptions {
  const problems: string[] = [];
  const connection = readConnection(value, new Place('what the function connection returns', '', problems));
  if (connection === undefined || problems.length > 0) throw new Error(problems.join('; '));
  const [now, before] = [kindOf(connection), kindOf(first)];
  if (now === before) return connection;
  throw new Error(`what the function connection returns must stay ${before}, got ${now}: restart to change it`);
}

function kindOf(connection: ConnectionOptions | undefined): string {
  if (isPostgres(connection)) return 'a PostgreSQL';
  return typeof connection === 'object' && 'nodes' in connection ? 'a Redis Cluster' : 'one Redis server';
}
