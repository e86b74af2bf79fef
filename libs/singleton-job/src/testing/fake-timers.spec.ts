import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { job } from '../../../../test/support/job.js';
import { type JobObserver } from '../base/events/observer.js';
import { createServices, createStore, type Services } from '../create-services.js';
import { type Job } from '../jobs/job.js';
import { resolveOptions } from '../options/resolve-options.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';

const NAMES = Array.from({ length: 10 }, (_, i) => `tick-${String(i)}`);
const SCHEDULES = { 'fixed rate': fixedRate(1_000), interval: interval(1_000), cron: cron('* * * * * *') };

/** An application without Nest, as the module makes it for `store: 'memory'`. */
async function start(jobs: readonly Job[], observer: JobObserver = {}): Promise<Services> {
  const options = resolveOptions({ projectName: 'test', store: 'memory', observers: [observer] });
  const services = createServices(options, { store: await createStore(options) });
  for (const one of jobs) services.pool.add(one);
  services.pool.start();
  return services;
}

describe('The fake timers of a test runner', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it.each([
    ['fixed rate', 10],
    ['cron', 10],
    // one at the start
    ['interval', 11],
  ] as const)("run ten jobs of a second (%s) in ten seconds with store: 'memory'", async (kind, count) => {
    const jobs = NAMES.map((name) => job({ name, schedule: SCHEDULES[kind] }));
    const runs: string[] = [];
    const { pool } = await start(jobs, { runStarted: (run) => runs.push(run.job) });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(runs.toSorted()).toEqual(NAMES.flatMap((name) => Array<string>(count).fill(name)));
    await pool.close();
  });

  it('need not be advanced for a stop, and leave no timer behind', async () => {
    const { pool } = await start([job()]);
    await jest.advanceTimersByTimeAsync(1_500);
    await pool.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('end a run that waits by run.sleep()', async () => {
    let started = 0;
    // no run is in flight at the stop
    jest.setSystemTime(new Date('2027-01-01T00:00:00Z'));
    const sleeping = job({ run: (run) => run.sleep('100ms') });
    const { pool } = await start([sleeping], { runStarted: () => (started += 1) });
    await jest.advanceTimersByTimeAsync(10_500);
    expect(started).toBe(10);
    await pool.close();
  });

  it('lead to one warning if a run waits for a timer that they do not move', async () => {
    const warnings: string[] = [];
    const waiting = job({ run: ({ signal }) => delay(100, null, { signal }) });
    const { pool } = await start([waiting], { warning: ({ code }) => warnings.push(code) });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(warnings).toEqual(['WAITS_FOR_REAL_TIME']);
    const closed = pool.close();
    await jest.advanceTimersByTimeAsync(10_000);
    await closed;
  });

  it('may end before the stop', async () => {
    const { pool } = await start([job()]);
    await jest.advanceTimersByTimeAsync(1_500);
    jest.useRealTimers();
    await pool.close();
  });
});
