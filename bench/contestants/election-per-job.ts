import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import { type Job, type Start } from './contestant.js';
import { RELEASE, RENEW } from './scripts.js';

const HEARTBEAT_MS = 3_000;
const EXPIRY_MS = 10_000;

interface Commands {
  renewLock(key: string, owner: string, expiryMs: number): Promise<number>;
  releaseLock(key: string, owner: string): Promise<number>;
}

/**
 * The design that this library began with: for each job an election of its own, with a heartbeat every 3 s and a lock
 * of 10 s, and a loop of fixed rate that runs the job while this replica leads it. Its backoff while Redis fails is
 * left out.
 */
export const start: Start = ({ settings, jobs, leads, onStop }) => {
  const redis = new Redis(settings.serverUrl) as Redis & Commands;
  redis.defineCommand('renewLock', { numberOfKeys: 1, lua: RENEW });
  redis.defineCommand('releaseLock', { numberOfKeys: 1, lua: RELEASE });
  const stop = new AbortController();
  const elections = jobs.map((job) => elect(job));

  async function elect(job: Job): Promise<void> {
    const key = `${settings.project}:${job.name}:lock`;
    let isLeader = false;
    const loop = runAtFixedRate(job, () => isLeader, stop.signal);
    while (!stop.signal.aborted) {
      const hasLock: boolean = isLeader
        ? (await redis.renewLock(key, settings.node, EXPIRY_MS)) === 1
        : (await redis.set(key, settings.node, 'PX', EXPIRY_MS, 'NX')) !== null;
      if (hasLock && !isLeader) leads(job.name);
      isLeader = hasLock;
      await delay(HEARTBEAT_MS, null, { signal: stop.signal }).catch(() => null);
    }
    await loop;
    if (isLeader) await redis.releaseLock(key, settings.node);
  }

  onStop(async () => {
    stop.abort();
    await Promise.all(elections);
    await redis.quit();
  });
  return Promise.resolve();
};

/** Ticks at fixed offsets from its start. A tick that comes while a run is under way is dropped. */
async function runAtFixedRate({ periodMs, run }: Job, isLeader: () => boolean, signal: AbortSignal): Promise<void> {
  let running: Promise<void> | undefined;
  let tickMs = Date.now();
  for (;;) {
    // ticks that were due while the process was halted count as one
    tickMs += periodMs * Math.max(1, Math.floor((Date.now() - tickMs) / periodMs));
    await delay(tickMs - Date.now(), null, { signal }).catch(() => null);
    if (signal.aborted) break;
    if (!isLeader() || running !== undefined) continue;
    running = run({ scheduledAt: tickMs }).finally(() => {
      running = undefined;
    });
  }
  await running;
}
