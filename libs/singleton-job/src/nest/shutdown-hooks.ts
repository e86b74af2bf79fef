import { showDuration } from '../base/text/duration.js';
import { type Services } from '../control/create-services.js';

/** `app.enableShutdownHooks()` may come after `app.listen()`. */
const LOOK_AFTER_MS = 5_000;

/**
 * Warns some seconds after the start if jobs run in this process and nothing listens for SIGTERM. It never warns in a
 * test runner, which sends no signals. The returned function cancels the warning.
 */
export function watchShutdownHooks(
  jobs: () => readonly Pick<Services['pool']['jobs'][number], 'job' | 'election'>[],
  logger: { warn(message: string): void },
  host: Pick<NodeJS.Process, 'env' | 'listenerCount'> = process,
): () => void {
  if (isTestRunner(host.env)) return () => undefined;
  const timer = setTimeout(() => {
    const expiriesMs = jobs().flatMap(({ job, election }) => (election === undefined ? [] : job.lockExpiryMs));
    if (expiriesMs.length === 0 || host.listenerCount('SIGTERM') > 0) return;
    const expiry = showDuration(Math.max(...expiriesMs));
    logger.warn(
      'nothing listens for SIGTERM: a stop of this process cuts its runs off, and its jobs have no leader until their ' +
        `lockExpiry is over (up to ${expiry}). Call app.enableShutdownHooks() in main.ts`,
    );
  }, LOOK_AFTER_MS);
  timer.unref();
  return clearTimeout.bind(undefined, timer);
}

/** Jest, Vitest and `node --test` set these variables in the processes of tests. */
function isTestRunner(env: NodeJS.ProcessEnv): boolean {
  const isSet = ['JEST_WORKER_ID', 'VITEST', 'NODE_TEST_CONTEXT'].some((name) => env[name] !== undefined);
  return isSet || env['NODE_ENV'] === 'test';
}
