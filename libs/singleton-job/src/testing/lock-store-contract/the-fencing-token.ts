import { equal } from 'node:assert/strict';
import { above, answers, atLeast, sameAnswer } from './answers.js';
import { bidOf, granted, refused } from './asking.js';
import { type Rules } from './scene.js';

/** Ahead of every clock. */
const far = (): number => Date.now() + 10 ** 12;

export const THE_FENCING_TOKEN: Rules = {
  'grows from term to term, and is never below the time of the store': async ({ store, other, release }) => {
    const first = await granted(store, bidOf('a#1'));
    atLeast(first.token, first.time);
    await release('a#1');
    const second = await granted(other, bidOf('b#1'));
    above(second.token, first.token);
  },

  'is larger than every one that the process has seen': async ({ store }) => {
    const seenToken = far();
    answers(await granted(store, bidOf('a#1', { seenToken })), { token: seenToken + 1 });
  },

  'grows also after the store lost its data, which shows by a new birth': async ({ world, store, other }) => {
    const before = await granted(store, bidOf('a#1', { seenToken: far() }));
    await world.passTime(5);
    await world.loseData();
    const after = await granted(other, bidOf('b#1', { seenToken: before.token }));
    above(after.token, before.token);
    above(after.born, before.born);
  },

  'is the same again for the same bid, whose answer was lost, and the expiry begins anew': async ({ store, other }) => {
    const first = await granted(store, bidOf('a#1', { lockExpiryMs: 30_000 }));
    const again = await granted(store, bidOf('a#1', { lockExpiryMs: 90_000, seenToken: first.token }));
    sameAnswer(again, first);
    above((await refused(other, bidOf('b#1'))).ttlMs, 60_000);
  },

  'of a repeated bid is a new one if the process saw a larger one meanwhile': async ({ store }) => {
    const first = await granted(store, bidOf('a#1'));
    const again = await granted(store, bidOf('a#1', { seenToken: first.token + 10 }));
    above(again.token, first.token + 10);
  },

  'is given to a lock that is ours but has lost its state': async ({ world, store, other }) => {
    await world.occupy('price-tick', 'a#1');
    const grant = await granted(store, bidOf('a#1', { lockExpiryMs: 30_000 }));
    atLeast(grant.token, grant.time);
    equal((await refused(other, bidOf('b#1', { lockExpiryMs: 90_000 }))).mended, false);
  },
};
