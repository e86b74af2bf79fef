import { describe, it } from 'node:test';
import { type Claim, type ClaimAnswer } from 'nestjs-singleton-job';
import { describeLockStore, InMemoryLockStore, ManualClock } from 'nestjs-singleton-job/testing';

/** Lets an occurrence be claimed however often it was claimed before. */
class ForgetfulStore extends InMemoryLockStore {
  override async claim(claim: Claim): Promise<ClaimAnswer> {
    return { ...(await super.claim(claim)), outcome: 'claimed' };
  }
}

describeLockStore(
  { describe, it },
  {
    name: 'a store that forgets claims',
    makeWorld: () => {
      const clock = new ManualClock();
      const store = new ForgetfulStore(clock);
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
          await Promise.all([store.close(), other.close()]);
        },
      };
    },
  },
);
