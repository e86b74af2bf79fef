import { describe, expect, it } from '@jest/globals';
import { MemoryServer, MemoryStore } from '../../libs/singleton-job/src/store/memory.js';
import { FaultyServer } from '../../libs/singleton-job/src/testing/faulty-server.js';
import { ManualClock } from '../../libs/singleton-job/src/testing/manual-clock.js';
import { describeStore } from '../../libs/singleton-job/src/testing/store-suite/describe-store.js';
import { hammer } from './hammer.js';

describeStore(
  { describe, it },
  {
    name: 'the memory store',
    makeFixture: () => {
      const clock = new ManualClock();
      const server = new FaultyServer(clock);
      const other = new FaultyServer(clock);
      return {
        newStore: () => new MemoryStore(server),
        newStoreOfOtherProject: () => new MemoryStore(other),
        passTime: (ms) => clock.advance(ms),
        spoil: async (name) => {
          server.spoil(name);
        },
        restart: async () => {
          server.restart(server.snapshot());
        },
        loseData: async () => {
          server.loseData();
        },
        setClockBack: async (ms) => {
          server.jump(-ms);
        },
      };
    },
  },
);

describe('the memory store', () => {
  it('keeps its promises to many replicas at once', async () => {
    const server = new MemoryServer({ wallNow: () => Date.now() });
    const result = await hammer(
      async () => {
        const store = new MemoryStore(server);
        store.open();
        return store;
      },
      { ms: 1_500 },
    );
    expect(result.problems).toEqual([]);
    expect(result.applied).toBeGreaterThan(1_000);
    expect(result.ended).toBeGreaterThan(20);
  });
});
