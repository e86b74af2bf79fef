import { Redis } from 'ioredis';
import { type Start } from './contestant.js';
import { startSchedule } from './nest-schedule.js';

const KEY_MS = 10_000;

/** `@nestjs/schedule` and a key for each slot. The replica that sets the key first runs. The key expires by itself. */
export const start: Start = (host) => {
  const { serverUrl, project } = host.settings;
  const redis = new Redis(serverUrl);
  return startSchedule(host, (job) => async () => {
    const slot = Math.floor(Date.now() / job.periodMs);
    if ((await redis.set(`${project}:${job.name}:${slot}`, '1', 'PX', KEY_MS, 'NX')) !== null) await job.run({});
  });
};
