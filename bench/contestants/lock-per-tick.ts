import { randomUUID } from 'node:crypto';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type Job, type Start } from './contestant.js';
import { startSchedule } from './nest-schedule.js';
import { RELEASE } from './scripts.js';

/** `@nestjs/schedule` and a lock around each run: SET NX PX, and compare-and-delete after it. */
export const start: Start = (host) => {
  const { serverUrl, project, options } = host.settings;
  const lockMs = Number(options['lockMs'] ?? 10_000);
  const logger = new Logger('Lock');
  const redis = new Redis(serverUrl);
  redis.on('error', (error) => {
    logger.error(error.message);
  });
  const running = new Set<Promise<void>>();

  async function runLocked(job: Job): Promise<void> {
    const key = `${project}:${job.name}:lock`;
    const owner = randomUUID();
    try {
      if ((await redis.set(key, owner, 'PX', lockMs, 'NX')) === null) return;
      try {
        await job.run({});
      } finally {
        await redis.eval(RELEASE, 1, key, owner);
      }
    } catch (error) {
      logger.error(error);
    }
  }

  return startSchedule(
    host,
    (job) => () => {
      const run = runLocked(job).finally(() => running.delete(run));
      running.add(run);
      return run;
    },
    async () => {
      // the schedule does not wait for runs, and a lock that is left behind stops the others for as long as it lasts
      await Promise.all(running);
      await redis.quit();
    },
  );
};
