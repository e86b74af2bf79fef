import { setTimeout as delay } from 'node:timers/promises';
import { mixedJobs, nowMs } from '../events.js';
import { damage, expiryMsOf, type Measurement, setUp } from '../measurement.js';

const STALL_MS = 400;

/** Stops Redis for 0.4 s again and again: its connections stay open, and nothing is answered. */
export const stalls: Measurement = async (options) => {
  const { times = 20, jobs = 20, replicas = 3 } = options;
  await using stage = await setUp(options, mixedJobs(jobs));
  const { fleet, server } = stage;
  await fleet.start(replicas);
  await fleet.untilAllLed();
  await delay(Math.min(expiryMsOf(options), 3_000));

  const fromMs = nowMs();
  for (let i = 0; i < times; i++) {
    await server.pause();
    await delay(STALL_MS);
    await server.resume();
    await delay(2_000 + Math.random() * 1_000);
  }
  await fleet.untilAllLed();
  await delay(2_000);
  return { stalls: times, 'stall ms': STALL_MS, jobs, ...damage(fleet, fromMs) };
};
