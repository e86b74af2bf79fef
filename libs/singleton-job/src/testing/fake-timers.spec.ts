import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { job } from '../../../../test/support/job.js';
import { type JobObserver } from '../base/events/observer.js';
import { createServices, createStore, type Services } from '../create-services.js';
import { type JobRun } from '../jobs/job-run.js';
import { resolveOptions } from '../options/resolve-options.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';

const NAMES = Array.from({ length: 10 }, (_, i) => `tick-${String(i)}`);
const SCHEDULES = { 'fixed rate': fixedRate(1_000), interval: interval(1_000), cron: cron('* * * * * *') };

/** An application without Nest, as the module makes it for `store: 'memory'`. */
async function start(schedule: keyof typeof SCHEDULES): Promise<Services & { readonly runs: Map<string, number> }> {
  const options = resolveOptions({ projectName: 'test', store: 'memory' });
  const services = createServices(options, { store: await createStore(options) });
  const runs = new Map(NAMES.map((name) => [name, 0]));
  for (const name of NAMES)
    services.pool.add(
      job({ name, schedule: SCHEDULES[schedule], run: () => runs.set(name, (runs.get(name) ?? 0) + 1) }),
    );
  services.pool.start();
  return { ...services, runs };
}

/** The same with one job. */
async function startOne(run: (run: JobRun) => unknown, observer: JobObserver = {}): Promise<Services> {
  const options = resolveOptions({ projectName: 'test', store: 'memory', observers: [observer] });
  const services = createServices(options, { store: await createStore(options) });
  services.pool.add(job({ run }));
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
    const { runs, pool } = await start(kind);
    await jest.advanceTimersByTimeAsync(10_000);
    expect([...runs.values()]).toEqual(NAMES.map(() => count));
    await pool.close();
  });

  it('need not be advanced for a stop, and leave no timer behind', async () => {
    const { pool } = await start('fixed rate');
    await jest.advanceTimersByTimeAsync(1_500);
    await pool.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('end a run that waits by run.sleep()', async () => {
    let started = 0;
    // no run is in flight at the stop
    jest.setSystemTime(new Date('2027-01-01T00:00:00Z'));
    const { pool } = await startOne((run) => run.sleep('100ms'), { runStarted: () => (started += 1) });
    await jest.advanceTimersByTimeAsync(10_500);
    expect(started).toBe(10);
    await pool.close();
  });

  it('lead to one warning if a run waits for a timer that they do not move', async () => {
    const warnings: string[] = [];
    const { pool } = await startOne(({ signal }) => delay(100, null, { signal }), {
      warning: ({ code }) => warnings.push(code),
    });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(warnings).toEqual(['WAITS_FOR_REAL_TIME']);
    const closed = pool.close();
    await jest.advanceTimersByTimeAsync(10_000);
    await closed;
  });

  it('may end before the stop', async () => {
    const { pool } = await start('fixed rate');
    await jest.advanceTimersByTimeAsync(1_500);
    jest.useRealTimers();
    await pool.close();
  });
});
