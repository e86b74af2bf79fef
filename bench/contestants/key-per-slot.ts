import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { type Start } from './contestant.js';
import { startSchedule } from './nest-schedule.js';

/** `@nestjs/schedule` and a key for each slot. The replica that sets the key first runs. The key expires by itself. */
export const start: Start = (host) => {
  const { serverUrl, project, options } = host.settings;
  const keyMs = Number(options['keyMs'] ?? 10_000);
  const logger = new Logger('Slot');
  const redis = new Redis(serverUrl);
  redis.on('error', (error) => {
    logger.error(error.message);
  });
  return startSchedule(
    host,
    (job) => async () => {
      const slot = Math.floor(Date.now() / job.periodMs);
      try {
        if ((await redis.set(`${project}:${job.name}:${slot}`, '1', 'PX', keyMs, 'NX')) !== null) await job.run({});
      } catch (error) {
        logger.error(error);
      }
    },
    async () => {
      await redis.quit();
    },
  );
};
