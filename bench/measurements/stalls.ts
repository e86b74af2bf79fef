import { setTimeout as delay } from 'node:timers/promises';
import { mixedJobs, nowMs } from '../events.js';
import { damage, expiryMsOf, type Measurement, setUp, spread } from '../measurement.js';

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
  const stallsMs: number[] = [];
  for (let i = 0; i < times; i++) {
    const stalledAtMs = nowMs();
    await server.pause();
    await delay(STALL_MS);
    await server.resume();
    stallsMs.push(nowMs() - stalledAtMs);
    await delay(2_000 + Math.random() * 1_000);
  }
  await fleet.untilAllLed();
  await delay(2_000);
  return { stalls: times, 'stall ms, p50 / p99 / max': spread(stallsMs), jobs, ...damage(fleet, fromMs) };
};
