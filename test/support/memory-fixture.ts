import { type Store } from 'nestjs-singleton-job';
import { FaultyServer, ManualClock, MemoryStore, type StoreFixture } from 'nestjs-singleton-job/testing';

/** Stores in memory on one server, for the rules of a store. `adapt` changes each of them. */
export function memoryFixture(adapt: (store: Store) => Store = (store) => store): StoreFixture {
  const clock = new ManualClock();
  const [server, other] = [new FaultyServer(clock), new FaultyServer(clock)];
  return {
    newStore: () => adapt(new MemoryStore(server)),
    newStoreOfOtherProject: () => adapt(new MemoryStore(other)),
    passTime: (ms) => clock.advance(ms),
    corrupt: async (name) => {
      server.corrupt(name);
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
}
