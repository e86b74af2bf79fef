import { describe, it } from 'node:test';
import { type ClaimRequest, type ClaimResult } from 'nestjs-singleton-job';
import { describeLockStore, InMemoryLockStore, TestServer, ManualClock } from 'nestjs-singleton-job/testing';

/** Lets an occurrence be claimed however often it was claimed before. */
class ForgetfulStore extends InMemoryLockStore {
  override async claim(request: ClaimRequest): Promise<ClaimResult> {
    return { ...(await super.claim(request)), outcome: 'claimed' };
  }
}

describeLockStore(
  { describe, it },
  {
    name: 'a store that forgets claims',
    makeWorld: () => {
      const clock = new ManualClock();
      const server = new TestServer(clock);
      const [store, other] = [new ForgetfulStore(server), new ForgetfulStore(server)];
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
        passTime: (ms) => clock.advance(ms),
        end: async () => {
          await Promise.all([store.close(), other.close()]);
        },
      };
    },
    leaveOut: ['a restart', 'a clock that is set back'],
  },
);
