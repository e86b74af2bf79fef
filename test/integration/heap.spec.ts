import { describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServices, createStore } from '../../libs/singleton-job/src/create-services.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { FaultyServer, ManualClock, MemoryStore } from '../../libs/singleton-job/src/testing/index.js';
import { footprint, grown } from '../support/footprint.js';

describe('Ticks', () => {
  it('use no more memory after 50,000 of them', async () => {
    const clock = new ManualClock();
    const store = new MemoryStore(new FaultyServer(clock));
    const { registry, pool } = createServices(resolveOptions({ projectName: 'heap', store }), { clock, store });
    let runs = 0;
    const run = ({ signal }: { signal: AbortSignal }) => {
      // every other job looks at its signal
      if (runs % 2 === 0) signal.throwIfAborted();
      runs += 1;
    };
    registry.register({ name: 'tick', schedule: { period: '10ms' }, run });
    pool.start();
    await clock.advance(50_000);
    const { heapBytes } = await footprint();
    await clock.advance(500_000);
    expect(runs).toBeGreaterThan(50_000);
    // a number kept of each tick would be more
    expect((await footprint()).heapBytes - heapBytes).toBeLessThan(300_000);
    await pool.stop();
    await pool.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

it('The request in which a job was registered is not kept', async () => {
  const options = resolveOptions({ projectName: 'heap', store: 'memory' });
  const { registry, pool } = createServices(options, { store: await createStore(options) });
  const storage = new AsyncLocalStorage<object>();
  const request = new WeakRef({});
  storage.run(request.deref() ?? {}, () => {
    registry.register({ name: 'tick', schedule: { delay: '1h' }, run: () => undefined });
    pool.start();
    void registry.overview();
  });
  await sleep(50);
  await footprint();
  expect(request.deref()).toBeUndefined();
  await pool.stop();
  await pool.close();
});

it('What listened to the signal of the last run is not kept', async () => {
  const options = resolveOptions({ projectName: 'heap', store: 'memory' });
  const { registry, pool } = createServices(options, { store: await createStore(options) });
  let listener: WeakRef<() => void> | undefined;
  const run = ({ signal }: { signal: AbortSignal }) => {
    const listen = () => undefined;
    signal.addEventListener('abort', listen);
    listener = new WeakRef(listen);
  };
  registry.register({ name: 'tick', schedule: { delay: '1h' }, run });
  pool.start();
  while (registry.list()[0]?.lastRun === null) await sleep(10);
  await pool.close();
  await footprint();
  expect(listener?.deref()).toBeUndefined();
  // which has the last run
  expect(registry.list()).toHaveLength(1);
});

describe('Half a day', () => {
  /** `consumer` runs for as long as a replica leads. */
  const SCHEDULES = {
    rate: { period: '5s' },
    interval: { delay: '5s' },
    cron: { cron: '*/5 * * * * *' },
    consumer: { whileLeader: true },
    once: { once: true },
  } as const;
  /** A leak of one object an hour would be 12. The bytes have compiled code too. */
  const SLACK = { objects: 10, entries: 5, heapBytes: 1_500_000 };

  it('of runs, terms, locks, commands and restarts leaves nothing behind', async () => {
    const clock = new ManualClock();
    const server = new FaultyServer(clock);
    let runs = 0;
    const start = () => {
      const store = new MemoryStore(server);
      const options = { projectName: 'half-a-day', store, heartbeatInterval: '20s', lockExpiry: '1m' } as const;
      const services = createServices(resolveOptions(options), { clock, store, random: () => 0.5 });
      for (const [name, schedule] of Object.entries(SCHEDULES)) {
        const run = ({ signal }: { signal: AbortSignal }) => {
          runs += 1;
          return clock.sleep(name === 'consumer' ? Infinity : 100, { signal }).catch(() => undefined);
        };
        services.registry.register({ name, schedule, run });
      }
      services.pool.start();
      return services;
    };
    // it lives all the time
    const first = start();
    const { registry } = first;
    const others = [start(), start()];
    const forEachJob = (act: (job: string) => unknown) => Promise.all(Object.keys(SCHEDULES).map(act));
    const hour = async () => {
      await forEachJob((job) => registry.resume(job));
      for (let round = 0; round < 3; round += 1) {
        await clock.sleep(120_000);
        await forEachJob((job) => registry.trigger(job));
        await forEachJob((job) => registry.stepDown(job));
        await registry.overview();
        const all = [first, ...others];
        await Promise.all(all.map(({ locks }) => locks.withLock('import', { wait: '1m' }, () => clock.sleep(500))));
      }
      others.push(start());
      await others.shift()?.pool.close();
      // a leader looks four times a second for blocks, which would take most of the time of this test
      await forEachJob((job) => registry.pause(job));
    };
    const after = async (hours: number) => {
      for (let left = hours; left > 0; left -= 1) await Promise.all([hour(), clock.advance(3_600_000)]);
      const { leases, records } = server.snapshot();
      const kept = { leases: leases.size, records: records.size, timers: clock.pendingTimers };
      return { ...(await footprint()), ...kept };
    };
    const before = await after(3);
    expect(grown(before, await after(12), SLACK)).toEqual([]);
    expect(runs).toBeGreaterThan(2_500);
    await Promise.all([...[first, ...others].map(({ pool }) => pool.close()), clock.advance(60_000)]);
    expect(clock.pendingTimers).toBe(0);
  });
});
