import { ConnectionFunctionError, LockStoreError } from '../base/errors/lock-store.error.js';
import { InvalidOptionsError } from '../base/errors/mistakes.errors.js';
import { messageOf } from '../base/errors/message-of.js';
import { type ConnectionOptions, isPostgres, type ReadConnection } from '../store/open-store.js';
import { isRecord } from '../base/text/describe-value.js';
import { Place } from './option-reader.js';
import { readConnection } from './read-connection.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';

/** Longer than a service for secrets takes to answer. Nothing leads yet at start-up. */
const START_LIMIT_MS = 10_000;
/** A leader has 6 s left when its connection breaks: time for a second call, and to connect. */
const CALL_LIMIT_MS = 3_000;
/** A failure counts for so long after its call began, so that a service for secrets that is down is not called for every attempt. */
const FAILURE_COUNTS_MS = 1_000;

/**
 * {@link resolveOptions} for options whose `connection` may be a function. It is called once now, so that what it returns is checked at
 * start-up, and again for each attempt to connect.
 *
 * @throws InvalidOptionsError with every mistake
 * @throws LockStoreError if the only one is that the function fails
 */
export async function resolveModuleOptions(raw: unknown): Promise<ResolvedOptions> {
  if (!isRecord(raw) || typeof raw['connection'] !== 'function') return resolveOptions(raw);
  const { connection: read, ...others } = raw;
  // a store wins, so that nothing needs the connection
  if (others['store'] !== undefined) return resolveOptions(others);
  const call = (limitMs: number) => answerOf(read as () => unknown, limitMs);
  let connection: unknown;
  try {
    connection = await call(START_LIMIT_MS);
  } catch (error: unknown) {
    // an application without jobs starts all the same
    if (problemsOf(others).length === 0) return resolveOptions(others);
    const problems = problemsOf({ ...raw, connection: {} });
    if (problems.length > 0) throw new InvalidOptionsError([messageOf(error), ...problems], { cause: error });
    const why = 'The start needs an answer, which says whether the store is a Redis or a PostgreSQL';
    throw new LockStoreError('STORE_UNREACHABLE', `${messageOf(error)}. ${why}. Start again when it answers`, {
      cause: error,
      wasSent: false,
    });
  }
  const options = resolveOptions({ ...raw, connection });
  const readAgain = shared(async () => {
    try {
      return checked(await call(CALL_LIMIT_MS), options.connection);
    } catch (error) {
      throw new ConnectionFunctionError(messageOf(error), { cause: error });
    }
  });
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
async function answerOf(read: () => unknown, limitMs: number): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, limitMs, new Error(`it did not answer within ${limitMs / 1_000} s`));
  });
  try {
    return await Promise.race([Promise.resolve().then(read), tooLate]);
  } catch (error: unknown) {
    throw new Error(`connection is a function, and it failed: ${messageOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Clients that call it at the same time, or soon after it failed, share a call. Another answer may be refused, so it is not kept. */
function shared<T>(call: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let endsMs = Infinity;
  return () => {
    if (latest !== undefined && performance.now() < endsMs) return latest;
    const countsUntilMs = performance.now() + FAILURE_COUNTS_MS;
    endsMs = Infinity;
    latest = call();
    latest.then(
      () => (endsMs = -Infinity),
      () => (endsMs = countsUntilMs),
    );
    return latest;
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
