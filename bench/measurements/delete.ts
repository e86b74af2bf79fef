import { setTimeout as delay } from 'node:timers/promises';
import { mixedJobs, nowMs } from '../events.js';
import { damage, expiryMsOf, type Measurement, setUp } from '../measurement.js';

/** Deletes all keys that match a pattern, such as `*:lock` or `{bench:sessions}`, in the middle of runs. */
export const deleteKeys: Measurement = async (options, pattern) => {
  if (pattern === undefined) throw new Error("delete needs a pattern of keys, such as '*:lock'");
  const { times = 5, jobs = 20, replicas = 3 } = options;
  await using stage = await setUp(options, mixedJobs(jobs));
  const { fleet, redis } = stage;
  await fleet.start(replicas);
  await fleet.untilAllLed();
  await delay(3_000);

  const fromMs = nowMs();
  let deleted = 0;
  for (let i = 0; i < times; i++) {
    await fleet.leaderInMidRun();
    const keys = await redis.keys(pattern);
    if (keys.length > 0) deleted += await redis.del(...keys);
    await delay(1.5 * expiryMsOf(options));
  }
  await fleet.untilAllLed();
  return { deletions: times, 'keys deleted': deleted, jobs, ...damage(fleet, fromMs) };
};
