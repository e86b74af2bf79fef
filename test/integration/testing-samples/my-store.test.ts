import { describe, it } from 'node:test';
import { describeStore, FaultyServer, ManualClock, MemoryStore } from 'nestjs-singleton-job/testing';

describeStore(
  { describe, it },
  {
    name: 'my store',
    makeFixture: () => {
      const clock = new ManualClock();
      const [server, other] = [new FaultyServer(clock), new FaultyServer(clock)]; // your server, with two projects
      return {
        newStore: () => new MemoryStore(server), // a connection of its own
        newStoreOfOtherProject: () => new MemoryStore(other),
        passTime: (ms) => clock.advance(ms),
        restart: async () => {
          server.restart(server.snapshot());
        },
        loseData: async () => {
          server.loseData();
        },
      };
    },
  },
);
