import { equal } from 'node:assert/strict';
import { above, answers, atMost, sameAnswer } from './answers.js';
import { bidOf, eventually, granted, LONG_MS, refused } from './asking.js';
import { type Rules } from './scene.js';

export const THE_LOCK: Rules = {
  'is granted to the first who asks, and refused to the second, who is told by whom it is held': async ({
    store,
    other,
  }) => {
    const grant = await granted(store, bidOf('a#1', { lockExpiryMs: 60_000 }));
    const refusal = await refused(other, bidOf('b#1'));
    const { token, last, born } = grant;
    answers(refusal, { holder: 'a#1', token, last, born, schedule: 'every second', mended: false });
    above(refusal.ttlMs, 30_000);
    atMost(refusal.ttlMs, 60_000);
  },

  'of one job has nothing to do with that of another': async ({ store, other }) => {
    await granted(store, bidOf('a#1', { name: 'one' }));
    await granted(other, bidOf('b#1', { name: 'two' }));
    answers(await store.renew({ name: 'two', holder: 'a#1', lockExpiryMs: LONG_MS, progress: {} }), { held: false });
  },

  'has exactly one winner among many who ask at once': async ({ store, other }) => {
    const bids = Array.from({ length: 50 }, (_, n) => bidOf(`n${String(n)}#1`));
    const all = await Promise.all(bids.map((bid, n) => (n % 2 === 0 ? store : other).acquire(bid)));
    equal(all.filter((answer) => answer.granted).length, 1);
  },

  'goes to the next one when nobody renewed it in time': async ({ world, store, other, renew }) => {
    await granted(store, bidOf('a#1', { lockExpiryMs: 20 }));
    await eventually('the lock expires', async () => {
      await world.passTime(10);
      return (await other.acquire(bidOf('b#1'))).granted || undefined;
    });
    answers(await renew('a#1'), { held: false });
  },

  'lives on for a whole expiry from its renewal': async ({ store, other, renew }) => {
    await granted(store, bidOf('a#1', { lockExpiryMs: 30_000 }));
    answers(await renew('a#1', {}, 90_000), { held: true });
    above((await refused(other, bidOf('b#1'))).ttlMs, 60_000);
  },

  'is not renewed by a stranger, who changes nothing': async ({ store, other, renew }) => {
    const { time, last, ran } = await granted(store, bidOf('a#1', { lockExpiryMs: 30_000 }));
    answers(await renew('b#1', { ran: time + 5, last: time + 5, endAgeMs: 0 }, 90_000), { held: false });
    atMost((await refused(other, bidOf('b#1'))).ttlMs, 30_000);
    answers(await granted(store, bidOf('a#1')), { last, ran, endAgeMs: undefined });
  },

  'is free at once when its holder releases it': async ({ store, other, release }) => {
    await granted(store, bidOf('a#1'));
    answers(await release('a#1'), { released: true });
    await granted(other, bidOf('b#1'));
  },

  'is not released by a stranger, not even by a later attempt of the same process': async ({
    store,
    other,
    release,
  }) => {
    await granted(store, bidOf('a#1'));
    answers(await release('b#1'), { released: false });
    answers(await release('a#2'), { released: false });
    answers(await refused(other, bidOf('b#1')), { holder: 'a#1' });
  },

  'of the next holder is not touched by what an ended term still sends': async ({
    store,
    other,
    renew,
    release,
    claim,
  }) => {
    const { token } = await granted(store, bidOf('a#1'));
    await release('a#1');
    const second = await granted(other, bidOf('a#2', { lockExpiryMs: 60_000 }));
    const scheduledAt = second.time + 1_000;
    const progress = { ran: scheduledAt, last: scheduledAt, endAgeMs: 0 };
    answers(await renew('a#1', progress), { held: false });
    answers(await claim('a#1', { token, scheduledAt, progress }), { outcome: 'not-leader' });
    answers(await release('a#1', progress), { released: false });
    sameAnswer(await granted(other, bidOf('a#2', { lockExpiryMs: 60_000 })), second);
  },

  'of a holder that names no session is respected until its key expires': async ({ world, store, other, release }) => {
    await world.occupy('price-tick', 'somebody-else', 60_000);
    const refusal = await refused(store, bidOf('a#1', { lockExpiryMs: 90_000 }));
    answers(refusal, { holder: 'somebody-else', mended: false });
    above(refusal.ttlMs, 30_000);
    atMost(refusal.ttlMs, 60_000);
    answers(await release('a#1'), { released: false });
    answers(await refused(other, bidOf('b#1')), { holder: 'somebody-else' });
    await world.occupy('price-tick', 'somebody-else', 20);
    await eventually('the key expires', async () => {
      await world.passTime(10);
      return (await other.acquire(bidOf('b#2'))).granted || undefined;
    });
  },

  'that would stay for ever is given an expiry, and whoever asked is told so once': async ({ world, store }) => {
    await world.occupy('price-tick', 'somebody-else');
    const refusal = await refused(store, bidOf('a#1', { lockExpiryMs: 60_000 }));
    answers(refusal, {
      holder: 'somebody-else',
      ttlMs: 60_000,
      token: 0,
      last: 0,
      born: 0,
      schedule: '',
      mended: true,
    });
    const again = await refused(store, bidOf('a#1', { lockExpiryMs: 90_000 }));
    equal(again.mended, false);
    atMost(again.ttlMs, 60_000);
  },
};
