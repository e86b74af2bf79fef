import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { type Start } from './contestant.js';
import { startSchedule } from './nest-schedule.js';
import { RELEASE } from './scripts.js';

const LOCK_MS = 10_000;

/** `@nestjs/schedule` and a lock around each run: SET NX PX, and compare-and-delete after it. */
export const start: Start = (host) => {
  const { serverUrl, project } = host.settings;
  const redis = new Redis(serverUrl);
  return startSchedule(host, (job) => async () => {
    const key = `${project}:${job.name}:lock`;
    const owner = randomUUID();
    if ((await redis.set(key, owner, 'PX', LOCK_MS, 'NX')) === null) return;
    await job.run({});
    await redis.eval(RELEASE, 1, key, owner);
  });
};
