import { describe, it } from 'node:test';
import { describeLockStore } from 'nestjs-singleton-job/testing';
import { MyServer } from './my-store.js';

describeLockStore(
  { describe, it },
  {
    name: 'my store',
    makeWorld: async () => {
      const server = new MyServer();
      const [store, other] = [await server.connect(), await server.connect()];
      return {
        store,
        other,
        occupy: (name, holder, ttlMs) => server.setLock(name, holder, ttlMs),
        loseData: () => server.deleteEverything(),
        loseSessions: () => server.deleteSessions(),
        loseState: (name) => server.deleteState(name),
        restart: () => server.restart(),
        passTime: (ms) => server.passTime(ms),
        end: () => server.stop(),
      };
    },
    leaveOut: ['a clock that is set back'],
  },
);
