import { atMost, includes, sameResult } from './assertions.js';
import { acquireRequest, granted, refused } from './requests.js';
import { type Rules } from './rule-context.js';

const NOTHING = {
  claimed: undefined,
  claimedBy: undefined,
  handled: undefined,
  slot: undefined,
  runStartedAt: undefined,
  runEndedAt: undefined,
  lastRun: undefined,
  schedule: undefined,
  pausedAt: undefined,
};

export const STATE: Rules = {
  'is empty after the first grant': async ({ store }) => {
    const grant = await granted(store, acquireRequest('a#1'));
    includes(grant, { ...NOTHING, stateCreatedAt: grant.storeTime });
  },

  'survives from leader to leader, and a grant changes only the token': async ({
    fixture,
    store,
    other,
    claim,
    release,
  }) => {
    const { token, storeTime, stateCreatedAt } = await granted(store, acquireRequest('a#1'));
    const update = { handled: storeTime - 7, runEndedAt: storeTime - 5, schedule: 'x' };
    await claim('a#1', { token, scheduledAt: storeTime + 1_000, update });
    await release('a#1');
    const kept = {
      claimed: storeTime + 1_000,
      claimedBy: `a#1 ${String(token)}`,
      handled: storeTime - 7,
      runEndedAt: storeTime - 5,
      schedule: 'x',
      stateCreatedAt,
    };
    await fixture.passTime(5);
    includes(await granted(other, acquireRequest('b#1')), kept);
    includes(await granted(other, acquireRequest('b#1')), kept);
    includes(await refused(store, acquireRequest('a#2')), kept);
  },

  'takes the update of a renewal, a claim and a release': async ({ store, other, renew, claim, release }) => {
    const { storeTime: at, token } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { claimed: at + 1, handled: at, schedule: 'x' });
    includes(await refused(other, acquireRequest('b#1')), { claimed: at + 1, handled: at, schedule: 'x' });
    await claim('a#1', { token, scheduledAt: at, update: { handled: at + 1, runEndedAt: at - 98 } });
    includes(await refused(other, acquireRequest('b#1')), { handled: at + 1, runEndedAt: at - 98 });
    await release('a#1', { claimed: at + 9, handled: at + 8, runEndedAt: at - 93, schedule: 'x' });
    const update = { claimed: at + 9, handled: at + 8, runEndedAt: at - 93, schedule: 'x' };
    includes(await granted(other, acquireRequest('b#1')), update);
  },

  'is never lowered by a late update': async ({ store, other, renew, release }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    const update = { claimed: at + 30, handled: at + 20, slot: at + 9, runStartedAt: at - 92, runEndedAt: at - 90 };
    await renew('a#1', update);
    await renew('a#1', { claimed: at + 3, handled: at + 2, slot: at + 1, runStartedAt: at - 100, runEndedAt: at - 99 });
    includes(await refused(other, acquireRequest('b#1')), update);
    await release('a#1', { claimed: at, handled: at, runEndedAt: at - 100 });
    includes(await granted(other, acquireRequest('b#1')), update);
  },

  'keeps the last run with the greatest digits': async ({ store, other, renew }) => {
    await granted(store, acquireRequest('a#1'));
    await renew('a#1', { lastRun: '0012 b' });
    await renew('a#1', { lastRun: '0011 c' });
    includes(await refused(other, acquireRequest('b#1')), { lastRun: '0012 b' });
    await renew('a#1');
    await renew('a#1', { lastRun: '0013 a' });
    includes(await refused(other, acquireRequest('b#1')), { lastRun: '0013 a' });
  },

  'of many locks is read at once, in their order': async ({ store, renew, setPaused }) => {
    if (store.readLocks === undefined) return;
    await granted(store, acquireRequest('a#1'));
    await renew('a#1', { lastRun: '0012 b' });
    await setPaused(true);
    const [none = {}, lock] = await store.readLocks(['another', acquireRequest('a#1').name]);
    includes(none, { holder: undefined, lastRun: undefined, pausedAt: undefined });
    includes(lock ?? {}, { holder: 'a#1', lastRun: '0012 b' });
    atMost(lock?.pausedAt ?? NaN, Number.MAX_SAFE_INTEGER);
  },

  'keeps each field that an update leaves out': async ({ store, other, renew }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    const update = { claimed: at, handled: at, runEndedAt: at - 100, schedule: 'x' };
    await renew('a#1', update);
    await renew('a#1', { claimed: undefined, schedule: undefined });
    await renew('a#1');
    includes(await refused(other, acquireRequest('b#1')), update);
  },

  'counts a handled occurrence as claimed, without a holder that claimed it': async ({
    store,
    other,
    renew,
    claim,
  }) => {
    const { storeTime: at, token } = await granted(store, acquireRequest('a#1'));
    await claim('a#1', { token, scheduledAt: at + 10 });
    await renew('a#1', { handled: at + 10 });
    const claimedBy = `a#1 ${String(token)}`;
    includes(await refused(other, acquireRequest('b#1')), { claimed: at + 10, claimedBy });
    await renew('a#1', { handled: at + 20 });
    const handled = { claimed: at + 20, handled: at + 20, claimedBy: undefined };
    includes(await refused(other, acquireRequest('b#1')), handled);
  },

  'has no run that began or ended in the future: the clock may have been set back': async ({ store, other, renew }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    const hour = 3_600_000;
    await renew('a#1', { runStartedAt: at + hour, runEndedAt: at + 2 * hour });
    const { runStartedAt, runEndedAt, storeTime } = await refused(other, acquireRequest('b#1'));
    atMost(runStartedAt, storeTime);
    atMost(runEndedAt, storeTime);
  },

  'is not lowered by another schedule either': async ({ store, other, renew, claim }) => {
    const { storeTime: at, token } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { schedule: 'x', handled: at + 5, slot: at + 6, runStartedAt: at - 93, runEndedAt: at - 92 });
    await claim('a#1', { token, scheduledAt: at + 50 });
    const kept = { claimed: at + 50, claimedBy: `a#1 ${String(token)}`, handled: at + 5, slot: at + 6 };
    const times = { runStartedAt: at - 93, runEndedAt: at - 92 };
    await renew('a#1', {
      schedule: 'y',
      claimed: at,
      handled: at,
      slot: at,
      runStartedAt: at - 100,
      runEndedAt: at - 100,
    });
    includes(await refused(other, acquireRequest('b#1')), { schedule: 'y', ...kept, ...times });
  },

  'is not changed by a refusal for any reason': async ({ store, other, renew, release }) => {
    const { storeTime: at, stateCreatedAt } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { claimed: at, schedule: 'x' });
    const before = await refused(other, acquireRequest('b#1'));
    const request = acquireRequest('b#2', { seenToken: before.token + 5 });
    includes(await refused(other, request), { reason: 'held' });
    await release('a#1');
    const { holder, ttlMs, reason, ...state } = before;
    for (const hopeless of [
      { ...request, notBefore: at * 2 },
      { ...request, knownStateCreatedAt: stateCreatedAt - 1 },
    ]) {
      const { holder: noHolder, ttlMs: noLife, reason: another, ...after } = await refused(other, hopeless);
      includes({ noHolder, noLife, isOther: another !== reason }, { noHolder: undefined, noLife: 0, isOther: true });
      sameResult(after, state);
    }
    includes({ holder, isAlive: ttlMs > 0 }, { holder: 'a#1', isAlive: true });
  },

  'that is lost is not created again by a release without an update': async ({ fixture, store, other, release }) => {
    await granted(store, acquireRequest('a#1'));
    await fixture.loseState('price-tick');
    includes(await release('a#1'), { released: true });
    await fixture.occupy('price-tick', 'another-client');
    includes(await refused(other, acquireRequest('b#1')), { ...NOTHING, token: 0, stateCreatedAt: undefined });
  },

  'that is lost while a leader continues contains what the leader records': async ({
    fixture,
    store,
    other,
    renew,
  }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    await fixture.loseState('price-tick');
    await renew('a#1', { handled: at, schedule: 'x' });
    const refusal = await refused(other, acquireRequest('b#1'));
    includes(refusal, { handled: at, claimed: at, schedule: 'x', stateCreatedAt: undefined, token: 0 });
  },
};
