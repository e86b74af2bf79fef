import { describe, expect, it } from '@jest/globals';
import { useRedisServer } from '../../tools/replicas/redis/use-redis.js';
import { WORKER_AS_BUILT, WorkerProcess, type WorkerVariables } from '../../tools/replicas/worker-process.js';
import { Workers } from '../../tools/replicas/workers.js';

const redis = useRedisServer();

describe('a worker', () => {
  it.each<[string, WorkerVariables, readonly string[]]>([
    [
      'of the library',
      {
        SINGLETON_JOB_CONNECTION: 'localhost',
        SINGLETON_JOB_HEARTBEAT_INTERVAL: '5s',
        SINGLETON_JOB_LOCK_EXPIRY: '10 s',
      },
      [
        '- connection (SINGLETON_JOB_CONNECTION) must be a redis://, rediss:// or postgresql:// URL',
        '- lockExpiry (SINGLETON_JOB_LOCK_EXPIRY) must be a duration such as 500 (milliseconds)',
      ],
    ],
    [
      'of a job',
      { SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '0 3 * *' },
      ['- cron (SINGLETON_JOB_JOBS__DAILY_REPORT__CRON) of DailyReport.write: '],
    ],
    [
      'of its own',
      { LOG_LEVEL: 'loud', DAILY_REPORT_TAKES: '2' },
      ['- LOG_LEVEL must be one of', '- DAILY_REPORT_TAKES must be'],
    ],
  ])('names the mistake in a variable %s without a stack, and exits with 1', async (_, variables, messages) => {
    const worker = new WorkerProcess('a', variables);
    expect(await worker.exited).toEqual({ code: 1, signal: null });
    const printed = worker.lines.map(({ text }) => text).join('\n');
    for (const message of messages) expect(printed).toContain(message);
    expect(printed).not.toMatch(/^\s+at /m);
    expect(worker.events).toEqual([]);
  });

  it('ends by the signal that stopped it, unless it is process 1 of a container', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const options = { program: WORKER_AS_BUILT, isProcessOne: false };
      const worker = new WorkerProcess('a', { SINGLETON_JOB_CONNECTION: redis().url }, options);
      await Workers.of(worker).until('it is ready', () => worker.isReady);
      expect(await worker.stop(signal)).toEqual({ code: null, signal });
    }
  });

  it('keeps running without the parent that received its events', async () => {
    const worker = new WorkerProcess('a', {
      SINGLETON_JOB_CONNECTION: redis().url,
      LOG_LEVEL: 'debug',
      SINGLETON_JOB_JOBS__HEARTBEAT__DELAY: '100ms',
    });
    await using workers = Workers.of(worker);
    await workers.untilJobsGoOn(0);
    worker.leaveAlone();
    const heard = worker.lines.length;
    await workers.until('it beats on', () => worker.lines.length > heard + 20);
    expect(await worker.stop()).toEqual({ code: 0, signal: null });
  });
});
