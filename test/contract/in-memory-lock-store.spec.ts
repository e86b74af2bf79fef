import { describe, it } from '@jest/globals';
import { InMemoryLockStore } from '../../libs/singleton-job/src/store/index.js';
import { describeLockStore } from '../../libs/singleton-job/src/testing/lock-store-contract/index.js';
import { ManualClock, TestServer } from '../../libs/singleton-job/src/testing/index.js';

describeLockStore(
  { describe, it },
  {
    name: 'the in-memory lock store',
    makeWorld: () => {
      const clock = new ManualClock();
      const server = new TestServer(clock);
      const [store, other] = [new InMemoryLockStore(server), new InMemoryLockStore(server)];
      return {
        store,
        other,
        occupy: async (name, holder, ttlMs) => {
          server.occupy(name, holder, ttlMs);
        },
        loseData: async () => {
          server.loseData();
        },
        loseSessions: async () => {
          server.loseSessions();
        },
        loseState: async (name) => {
          server.forget(name);
        },
        restart: async () => {
          server.restart(server.snapshot());
        },
        setClockBack: async (ms) => {
          clock.stepWall(-ms);
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
