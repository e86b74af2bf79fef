import { type Job, type Start } from './contestant.js';

/** The limit of what a timer of Node can do: one aimed at each slot, and an async call. No Redis, no Nest. */
export const start: Start = (host) => {
  for (const job of host.jobs) aim(job, job.offsetMs ?? 0);
  // a process without a job stays as well
  setInterval(() => undefined, 60_000);
  return Promise.resolve();
};

function aim(job: Job, offsetMs: number, after = Date.now()): void {
  const slot = (Math.floor((after - offsetMs) / job.periodMs) + 1) * job.periodMs + offsetMs;
  const fire = (): void => {
    const earlyMs = slot - Date.now();
    if (earlyMs > 0) {
      setTimeout(fire, earlyMs);
      return;
    }
    void job.run({ scheduledAt: slot });
    aim(job, offsetMs, Math.max(slot, Date.now()));
  };
  setTimeout(fire, slot - Date.now());
}
