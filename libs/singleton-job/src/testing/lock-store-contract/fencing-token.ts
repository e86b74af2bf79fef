import { equal } from 'node:assert/strict';
import { above, atLeast, includes, sameResult } from './assertions.js';
import { acquireRequest, granted, refused } from './requests.js';
import { type Rules } from './rule-context.js';

/** Ahead of every clock. */
const far = (): number => Date.now() + 10 ** 12;

export const FENCING_TOKEN: Rules = {
  'grows from term to term, and is never below the time of the store': async ({ store, other, release }) => {
    const first = await granted(store, acquireRequest('a#1'));
    atLeast(first.token, first.storeTime);
    await release('a#1');
    above((await granted(other, acquireRequest('b#1'))).token, first.token);
  },

  'is higher than every token that the replica has seen': async ({ store }) => {
    const seenToken = far();
    includes(await granted(store, acquireRequest('a#1', { seenToken })), { token: seenToken + 1 });
  },

  'grows also after a loss of data, which a new stateCreatedAt shows': async ({ fixture, store, other }) => {
    const before = await granted(store, acquireRequest('a#1', { seenToken: far() }));
    await fixture.passTime(5);
    await fixture.loseData();
    const after = await granted(other, acquireRequest('b#1', { seenToken: before.token }));
    above(after.token, before.token);
    above(after.stateCreatedAt, before.stateCreatedAt);
  },

  'is the same for a repeated request, which renews the life of the lock': async ({ store, other }) => {
    const first = await granted(store, acquireRequest('a#1', { lifeMs: 30_000 }));
    const again = await granted(store, acquireRequest('a#1', { lifeMs: 90_000, seenToken: first.token }));
    sameResult(again, { ...first, previousHolder: 'a#1' });
    above((await refused(other, acquireRequest('b#1'))).ttlMs, 60_000);
  },

  'of a repeated request is a new one if the replica has seen a higher one meanwhile': async ({ store }) => {
    const { token } = await granted(store, acquireRequest('a#1'));
    const again = await granted(store, acquireRequest('a#1', { seenToken: token + 10 }));
    above(again.token, token + 10);
  },

  'is granted again to the holder of a lock that has lost its state': async ({ fixture, store, other }) => {
    await fixture.occupy('price-tick', 'a#1');
    const { token, storeTime } = await granted(store, acquireRequest('a#1', { lifeMs: 30_000 }));
    atLeast(token, storeTime);
    equal((await refused(other, acquireRequest('b#1'))).ttlRestored, false);
  },
};
