import { describe, expect, it, jest } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { useFakeTimers } from '../../../../test/support/use-fake-timers.js';
import { type Services } from '../create-services.js';
import { watchInitialisation, watchShutdownHooks } from './late-warnings.js';

type JobEntry = Pick<Services['pool']['jobs'][number], 'job' | 'election'>;

describe('An application', () => {
  useFakeTimers();

  const running: JobEntry = { job: job({ lockExpiryMs: 60_000 }), election: {} as JobEntry['election'] };
  const disabled: JobEntry = { job: job(), election: undefined };

  /** What is written in the first minute. */
  function warnings(
    jobs: readonly JobEntry[],
    {
      env = {},
      listeners = 0,
      isStopped = false,
    }: { env?: NodeJS.ProcessEnv; listeners?: number; isStopped?: boolean },
  ): readonly string[] {
    const written: string[] = [];
    const host = { env, listenerCount: (event: string | symbol) => (event === 'SIGTERM' ? listeners : 0) };
    const stop = watchShutdownHooks(() => jobs, { warn: (message) => written.push(message) }, host);
    if (isStopped) stop();
    jest.advanceTimersByTime(60_000);
    return written;
  }

  it('without shutdown hooks logs one warning with the cost and the fix', () => {
    expect(warnings([disabled, running], { env: { NODE_ENV: 'production' } })).toEqual([
      'nothing listens for SIGTERM: a stop of this process cuts its runs off, and its jobs have no leader until their ' +
        'lockExpiry is over (up to 60.0 s). Call app.enableShutdownHooks() in main.ts',
    ]);
  });

  it('logs nothing without jobs, after a stop, or if something listens for SIGTERM', () => {
    expect(warnings([disabled], {})).toEqual([]);
    expect(warnings([running], { isStopped: true })).toEqual([]);
    expect(warnings([running], { listeners: 1 })).toEqual([]);
  });

  it.each([{ JEST_WORKER_ID: '1' }, { VITEST: 'true' }, { NODE_TEST_CONTEXT: 'child-v8' }, { NODE_ENV: 'test' }])(
    'logs nothing in a test runner: %j',
    (env) => {
      expect(warnings([running], { env })).toEqual([]);
    },
  );

  it('logs one warning if it is not initialised within a minute, as a microservice of a hybrid application', () => {
    const written: string[] = [];
    const host = { env: {}, listenerCount: () => 1 };
    const logger = { warn: (message: string) => written.push(message) };
    watchInitialisation(logger, host);
    watchInitialisation(logger, host)();
    jest.advanceTimersByTime(59_999);
    expect(written).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(written).toEqual([expect.stringMatching(/^the application is not initialised yet, .* app\.init\(\) or/)]);
  });
});
