import { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { type Job, type Start } from './contestant.js';
import { startSchedule } from './nest-schedule.js';
import { RELEASE, RENEW } from './scripts.js';

/** Sets a lock that nobody has, and draws its fencing token; 0 where somebody has it. */
const TAKE = `local isFree = redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX')
return isFree and redis.call('INCR', KEYS[2]) or 0`;

const TTL_MS = 30_000;

/**
 * The requests of `@nestjs/locks` 0.0.1 as its documentation describes them; the npm registry does not have it.
 * `@OnOneInstance()` takes a lease that the replica keeps between the ticks, and `@WithoutOverlapping()` a lock around
 * each run.
 */
export const start: Start = (host) => {
  const { serverUrl, project } = host.settings;
  const redis = new Redis(serverUrl);
  const leases = new Set<Job>();

  async function take(key: string): Promise<string | undefined> {
    const owner = randomUUID();
    return (await redis.eval(TAKE, 2, key, `${project}:tokens`, owner, TTL_MS)) === 0 ? undefined : owner;
  }

  async function isOwner(job: Job): Promise<boolean> {
    if (leases.has(job)) return true;
    const key = `${project}:${job.name}:owner`;
    const owner = await take(key);
    if (owner === undefined) return false;
    leases.add(job);
    setInterval(() => void redis.eval(RENEW, 1, key, owner, TTL_MS), TTL_MS / 3);
    return true;
  }

  return startSchedule(host, (job) => async () => {
    if (!(await isOwner(job))) return;
    const key = `${project}:${job.name}`;
    const owner = await take(key);
    if (owner === undefined) return;
    await job.run({});
    await redis.eval(RELEASE, 1, key, owner);
  });
};
