import { describe, it } from '@jest/globals';
import { describeLockStore, InMemoryLockStore, ManualClock } from 'nestjs-singleton-job/testing';

describeLockStore(
  { describe, it },
  {
    name: 'the in-memory lock store',
    makeWorld: () => {
      const clock = new ManualClock();
      const store = new InMemoryLockStore(clock);
      const other = store.replica();
      return {
        store,
        other,
        occupy: async (name, holder, ttlMs) => {
          store.occupy(name, holder, ttlMs);
        },
        loseData: async () => {
          store.loseData();
        },
        passTime: (ms) => clock.advance(ms),
        end: async () => {
          await store.close();
          await other.close();
        },
      };
    },
  },
);
