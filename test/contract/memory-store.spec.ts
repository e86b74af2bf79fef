import { describe, expect, it } from '@jest/globals';
import { MemoryStore } from '../../libs/singleton-job/src/store/memory.js';
import { FaultyServer } from '../../libs/singleton-job/src/testing/faulty-server.js';
import { ManualClock } from '../../libs/singleton-job/src/testing/manual-clock.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { SuiteClient } from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { memoryFixture } from '../support/memory-fixture.js';

describeStore({ describe, it }, { name: 'the memory store', makeFixture: memoryFixture });

describe('the memory store', () => {
  it('keeps no record that may be forgotten, and all others', async () => {
    const clock = new ManualClock();
    const server = new FaultyServer(clock);
    const a = await new SuiteClient(new MemoryStore(server)).open();
    await a.sync({ isNewcomer: true, grant: ['a.1@1000'] });
    await a.put('{}', undefined, { name: 'job:job' });
    await a.put('{}', undefined, { name: 'order-1:lock', forgetAfterMs: 1_000 });
    await a.put('{}', undefined, { name: 'order-2:lock', forgetAfterMs: 300_000 });
    await clock.advance(61_000);
    await a.put('{}', undefined, { name: 'order-3:lock', forgetAfterMs: 1_000 });
    expect([...server.snapshot().records.keys()]).toEqual(['job:job', 'order-2:lock', 'order-3:lock']);
  });
});
