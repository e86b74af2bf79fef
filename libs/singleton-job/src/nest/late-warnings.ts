import { showDuration } from '../base/text/duration.js';
import { type Services } from '../create-services.js';

/** `app.enableShutdownHooks()` may come after `app.listen()`. */
const HOOKS_AFTER_MS = 5_000;
/** Other providers may take long to start, such as one that migrates a database. */
const INITIALISED_AFTER_MS = 60_000;

const NOT_INITIALISED =
  'the application is not initialised yet, so no job runs. Call app.init() or app.listen(): startAllMicroservices() ' +
  'does not do it';

interface WarningLogger {
  warn(message: string): void;
}

type Host = Pick<NodeJS.Process, 'env' | 'listenerCount'>;

/**
 * Warns some seconds after the start if jobs run in this process and nothing listens for SIGTERM. The returned function
 * cancels the warning.
 */
export function watchShutdownHooks(
  jobs: () => readonly Pick<Services['pool']['jobs'][number], 'job' | 'election'>[],
  logger: WarningLogger,
  host: Host = process,
): () => void {
  return warnLater(HOOKS_AFTER_MS, logger, host, () => {
    const expiriesMs = jobs().flatMap(({ job, election }) => (election === undefined ? [] : job.lockExpiryMs));
    if (expiriesMs.length === 0 || host.listenerCount('SIGTERM') > 0) return undefined;
    const expiry = showDuration(Math.max(...expiriesMs));
    return (
      'nothing listens for SIGTERM: a stop of this process cuts its runs off, and its jobs have no leader until their ' +
      `lockExpiry is over (up to ${expiry}). Call app.enableShutdownHooks() in main.ts`
    );
  });
}

/**
 * Warns if the application is not initialised a minute after its module was made. The returned function cancels the
 * warning.
 */
export function watchInitialisation(logger: WarningLogger, host: Host = process): () => void {
  return warnLater(INITIALISED_AFTER_MS, logger, host, () => NOT_INITIALISED);
}

/** Never in a test runner, which sends no signals, and where many applications are only compiled. */
function warnLater(ms: number, logger: WarningLogger, host: Host, message: () => string | undefined): () => void {
  if (isTestRunner(host.env)) return () => undefined;
  const timer = setTimeout(() => {
    const text = message();
    if (text !== undefined) logger.warn(text);
  }, ms);
  timer.unref();
  return clearTimeout.bind(undefined, timer);
}

/** Jest, Vitest and `node --test` set these variables in the processes of tests. */
function isTestRunner(env: NodeJS.ProcessEnv): boolean {
  const isSet = ['JEST_WORKER_ID', 'VITEST', 'NODE_TEST_CONTEXT'].some((name) => env[name] !== undefined);
  return isSet || env['NODE_ENV'] === 'test';
}
