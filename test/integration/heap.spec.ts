import { describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createServices, createStore, type Services } from '../../libs/singleton-job/src/control/create-services.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { FaultyServer, ManualClock, MemoryStore } from '../../libs/singleton-job/src/testing/index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const SCHEDULES = {
  slot: { period: '30s' },
  each: { delay: '30s' },
  minutely: { cron: '* * * * *' },
  feed: { whileLeader: true },
} as const;

describe('Ticks', () => {
  it('use no more memory after 300,000 of them', async () => {
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
    await clock.advance(100_000);
    const before = heapBytes();
    await clock.advance(3_000_000);
    expect(runs).toBeGreaterThan(300_000);
    // a byte for each tick would be as much
    expect(heapBytes() - before).toBeLessThan(300_000);
    await pool.stop();
    await pool.close();
    expect(clock.pendingTimers).toBe(0);
  }, 180_000);
});

/** What could grow. `oldest` has lived all day. */
function sizesOf(server: FaultyServer, oldest: Services) {
  const { leases, records } = server['data'];
  const elections = oldest.replica.elections.length;
  return { stores: server.stores.size, leases: leases.size, records: records.size, elections };
}

it('A day of runs, locks, commands and a deploy each hour leaves nothing behind', async () => {
  const clock = new ManualClock();
  const server = new FaultyServer(clock);
  let runs = 0;
  const start = (): Services => {
    const store = new MemoryStore(server);
    const services = createServices(resolveOptions({ projectName: 'day', store }), { clock, store });
    const run = () => void (runs += 1);
    const lasting = ({ signal }: { signal: AbortSignal }) => clock.sleep(Infinity, { signal });
    for (const [name, schedule] of Object.entries(SCHEDULES))
      services.registry.register({ name, schedule, run: name === 'feed' ? lasting : run });
    services.pool.start();
    return services;
  };
  const stop = async ({ pool }: Services): Promise<void> => {
    const stopped = pool.close();
    await clock.advance(60_000);
    await stopped;
  };
  const [oldest, ...others] = [start(), start(), start()];
  const hour = async (number: number): Promise<void> => {
    const { locks, registry } = [oldest, ...others][number % 3] ?? oldest;
    void locks.withLock(`order-${number}`, () => clock.sleep(1_000));
    void registry.trigger('minutely');
    void registry.pause('each').then(() => registry.resume('each'));
    void registry.stepDown('feed');
    await clock.advance(1_800_000);
    const [replaced] = others.splice(number % 2, 1, start());
    await stop(replaced ?? oldest);
    await clock.advance(1_740_000);
  };
  for (let number = 0; number < 12; number++) await hour(number);
  const [sizes, timers, bytes] = [sizesOf(server, oldest), clock.pendingTimers, heapBytes()];
  for (let number = 12; number < 24; number++) await hour(number);
  expect(runs).toBeGreaterThan(2 * 2_700 + 1_400);
  // the record of a lock is forgotten after a day
  expect(sizesOf(server, oldest)).toEqual({ ...sizes, records: sizes.records + 12 });
  // one more or less on each replica, by what it leads
  expect(clock.pendingTimers).toBeLessThan(timers + 4);
  expect(heapBytes() - bytes).toBeLessThan(300_000);
  await Promise.all([oldest, ...others].map(stop));
  expect(clock.pendingTimers).toBe(0);
}, 180_000);

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
  collectGarbage();
  expect(request.deref()).toBeUndefined();
  await pool.stop();
  await pool.close();
});
