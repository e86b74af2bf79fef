import { type Clock } from '../../libs/singleton-job/src/base/time/clock.js';
import { type JobRun } from '../../libs/singleton-job/src/jobs/job-run.js';
import { type Job } from '../../libs/singleton-job/src/jobs/job.js';
import { fixedRate } from '../../libs/singleton-job/src/schedule/fixed-rate.js';

/** A job for specs. It runs every second on the grid by default. */
export function job(overrides: Partial<Omit<Job, 'invoke'>> & { readonly run?: (run: JobRun) => unknown } = {}): Job {
  const { run = () => undefined, ...definition } = overrides;
  return {
    name: 'tick',
    location: 'Ticks.tick',
    schedule: fixedRate(1_000),
    enabled: true,
    lockExpiryMs: 10_000,
    timeoutMs: undefined,
    warnAfterMs: 8_000,
    overlap: 'skip',
    initialDelayMs: 0,
    misfireGraceMs: 31_000,
    ...definition,
    invoke: run,
  };
}

/**
 * A run that takes `forMs` by the clock and then succeeds. It stops at once when its signal fires if it is `obedient`.
 */
export function lasting(clock: Clock, forMs: number, { obedient = false } = {}): (run: JobRun) => Promise<void> {
  return (run) =>
    new Promise((resolve, reject) => {
      const timer = clock.setTimer(forMs, resolve);
      run.signal.addEventListener('abort', () => {
        if (!obedient) return;
        timer.cancel();
        reject(run.signal.reason as Error);
      });
    });
}
