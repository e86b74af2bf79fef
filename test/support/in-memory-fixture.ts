import { type LockStore } from 'nestjs-singleton-job';
import { InMemoryLockStore, type LockStoreFixture, ManualClock, TestServer } from 'nestjs-singleton-job/testing';

/** Two stores in memory on one server, for the rules of a store. `adapt` changes each of them. */
export function inMemoryFixture(adapt: (store: LockStore) => LockStore = (store) => store): LockStoreFixture {
  const clock = new ManualClock();
  const server = new TestServer(clock);
  const [store, other] = [adapt(new InMemoryLockStore(server)), adapt(new InMemoryLockStore(server))];
  return {
    store,
    other,
    occupy: async (...args) => {
      server.occupy(...args);
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
      await Promise.all([store.close(), other.close()]);
    },
  };
}
