import { equal } from 'node:assert/strict';
import { above, atMost, includes, sameResult } from './assertions.js';
import { acquireRequest, eventually, granted, LONG_MS, refused } from './requests.js';
import { type Rules } from './rule-context.js';

export const LOCK: Rules = {
  'is granted to the first request, and refused to the second, with the holder': async ({ store, other }) => {
    const { token, stateCreatedAt } = await granted(store, acquireRequest('a#1', { lifeMs: 60_000 }));
    const refusal = await refused(other, acquireRequest('b#1'));
    includes(refusal, { reason: 'held', holder: 'a#1', token, stateCreatedAt, ttlRestored: false });
    above(refusal.ttlMs, 30_000);
    atMost(refusal.ttlMs, 60_000);
  },

  'of one job is independent of that of another': async ({ store, other }) => {
    await granted(store, acquireRequest('a#1', { name: 'one' }));
    await granted(other, acquireRequest('b#1', { name: 'two' }));
    const renewal = { name: 'two', holder: 'a#1', lifeMs: LONG_MS, update: {} };
    includes(await store.renew(renewal), { held: false, holder: 'b#1' });
  },

  'excludes two requests of one process: a later attempt is refused if there is no session': async ({
    store,
    renew,
    release,
  }) => {
    await granted(store, acquireRequest('p#1'));
    includes(await refused(store, acquireRequest('p#2')), { reason: 'held', holder: 'p#1' });
    includes(await renew('p#1'), { held: true });
    await release('p#1');
    await granted(store, acquireRequest('p#2'));
    includes(await refused(store, acquireRequest('p#1')), { reason: 'held', holder: 'p#2' });
  },

  'has exactly one holder when many replicas request it at once': async ({ store, other }) => {
    const requests = Array.from({ length: 50 }, (_, n) => acquireRequest(`n${String(n)}#1`));
    const results = await Promise.all(requests.map((request, n) => (n % 2 === 0 ? store : other).acquire(request)));
    equal(results.filter((result) => result.granted).length, 1);
  },

  'is free when its life has passed without a renewal': async ({ fixture, store, other, renew }) => {
    await granted(store, acquireRequest('a#1', { lifeMs: 20 }));
    await eventually('the lock expires', async () => {
      await fixture.passTime(10);
      return (await other.acquire(acquireRequest('b#1'))).granted || undefined;
    });
    includes(await renew('a#1'), { held: false, holder: 'b#1' });
  },

  'lives for its full life from its renewal': async ({ store, other, renew }) => {
    await granted(store, acquireRequest('a#1', { lifeMs: 30_000 }));
    includes(await renew('a#1', {}, { lifeMs: 90_000 }), { held: true, holder: 'a#1' });
    above((await refused(other, acquireRequest('b#1'))).ttlMs, 60_000);
  },

  'is not renewed for another holder, which changes nothing': async ({ store, other, renew }) => {
    const { storeTime } = await granted(store, acquireRequest('a#1', { lifeMs: 30_000 }));
    const update = { handled: storeTime, claimed: storeTime, runEndedAt: storeTime, schedule: 'x' };
    includes(await renew('b#1', update, { lifeMs: 90_000 }), { held: false, holder: 'a#1' });
    const refusal = await refused(other, acquireRequest('b#1'));
    atMost(refusal.ttlMs, 30_000);
    includes(refusal, { handled: undefined, claimed: undefined, runEndedAt: undefined });
    includes(refusal, { schedule: undefined });
  },

  'is free at once when its holder releases it': async ({ store, other, renew, release }) => {
    await granted(store, acquireRequest('a#1'));
    includes(await release('a#1'), { released: true });
    includes(await renew('a#1'), { held: false, holder: undefined });
    await granted(other, acquireRequest('b#1'));
  },

  'is not released for another holder, not even for a later attempt of the same replica': async ({
    store,
    other,
    release,
  }) => {
    await granted(store, acquireRequest('a#1'));
    includes(await release('b#1'), { released: false });
    includes(await release('a#2'), { released: false });
    includes(await refused(other, acquireRequest('b#1')), { holder: 'a#1' });
  },

  'is not changed by late requests of an ended term': async ({ store, other, renew, release, claim }) => {
    const { token } = await granted(store, acquireRequest('a#1'));
    await release('a#1');
    const second = await granted(other, acquireRequest('a#2', { lifeMs: 60_000 }));
    const scheduledAt = second.storeTime + 1_000;
    const update = { handled: scheduledAt, claimed: scheduledAt, runEndedAt: scheduledAt };
    includes(await renew('a#1', update), { held: false, holder: 'a#2' });
    includes(await claim('a#1', { token, scheduledAt, update }), { outcome: 'not-leader', holder: 'a#2' });
    includes(await release('a#1', update), { released: false });
    sameResult(await granted(other, acquireRequest('a#2', { lifeMs: 60_000 })), { ...second, previousHolder: 'a#2' });
  },

  'without a time to live gets one from the first refusal': async ({ fixture, store }) => {
    await fixture.occupy('price-tick', 'another-client');
    const refusal = await refused(store, acquireRequest('a#1', { lifeMs: 60_000 }));
    includes(refusal, { holder: 'another-client', ttlMs: 60_000, ttlRestored: true });
    const again = await refused(store, acquireRequest('a#1', { lifeMs: 90_000 }));
    equal(again.ttlRestored, false);
    atMost(again.ttlMs, 60_000);
  },

  'that is refused gets no state': async ({ fixture, store }) => {
    await fixture.occupy('price-tick', 'another-client');
    const nothing = { token: 0, stateCreatedAt: undefined, schedule: undefined, claimed: undefined };
    includes(await refused(store, acquireRequest('a#1', { seenToken: 5 })), nothing);
    includes(await refused(store, acquireRequest('a#2', { stateLifeMs: LONG_MS })), nothing);
  },
};
