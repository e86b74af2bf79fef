import { describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createServices, createStore } from '../../libs/singleton-job/src/control/create-services.js';
import { resolveOptions } from '../../libs/singleton-job/src/options/resolve-options.js';
import { FaultyServer, ManualClock, MemoryStore } from '../../libs/singleton-job/src/testing/index.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

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
