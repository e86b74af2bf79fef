import { describe, it } from 'node:test';
import { describeLockStore, InMemoryLockStore, ManualClock, TestServer } from 'nestjs-singleton-job/testing';

describeLockStore(
  { describe, it },
  {
    name: 'my store',
    makeFixture: () => {
      const clock = new ManualClock();
      const server = new TestServer(clock); // your server
      const [store, other] = [new InMemoryLockStore(server), new InMemoryLockStore(server)]; // two connections to it
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
        passTime: (ms) => clock.advance(ms),
        end: async () => {
          await Promise.all([store.close(), other.close()]);
        },
      };
    },
    leaveOut: ['a clock that is set back'],
  },
);
