import { describe, expect, it } from '@jest/globals';
import { FaultyServer } from '../../libs/singleton-job/src/testing/faulty-server.js';
import { ManualClock } from '../../libs/singleton-job/src/testing/manual-clock.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { memoryFixture } from '../support/memory-fixture.js';

describeStore({ describe, it }, { name: 'the memory store', makeFixture: memoryFixture });

describe('the memory store', () => {
  it('keeps no record that may be forgotten, and all others', async () => {
    const clock = new ManualClock();
    const server = new FaultyServer(clock);
    const { incarnation, time } = server.sync({
      isNewcomer: true,
      renew: [],
      grant: ['a.1@1000'],
      revoke: [],
      read: [],
    });
    const put = (name: string, forget: { forgetAfterMs?: number }) => {
      const writes = [{ name, ifRevision: 0, value: '{}', ...forget }];
      return server.compareAndSet({ incarnation: incarnation.id, until: time + 600_000, writes });
    };
    put('job:lock', {});
    put('order-1:mutex', { forgetAfterMs: 1_000 });
    put('order-2:mutex', { forgetAfterMs: 300_000 });
    await clock.advance(61_000);
    put('order-3:mutex', { forgetAfterMs: 1_000 });
    expect([...server.snapshot().records.keys()]).toEqual(['job:lock', 'order-2:mutex', 'order-3:mutex']);
  });
});
