import { sameResult, includes } from './assertions.js';
import { acquireRequest, granted, refused } from './requests.js';
import { type Rules } from './scene.js';

const NOTHING = {
  newestClaimed: undefined,
  claimedBy: undefined,
  newestSettled: undefined,
  lastRunEndedAt: undefined,
  schedule: undefined,
  pausedAt: undefined,
};

export const STATE: Rules = {
  'is empty after the first grant': async ({ store }) => {
    const grant = await granted(store, acquireRequest('a#1'));
    includes(grant, { ...NOTHING, stateCreatedAt: grant.storeTime });
  },

  'survives from leader to leader, and a grant changes only the token': async ({
    world,
    store,
    other,
    claim,
    release,
  }) => {
    const { token, storeTime, stateCreatedAt } = await granted(store, acquireRequest('a#1'));
    const update = { newestSettled: storeTime - 7, lastRunEndedAt: storeTime - 5, schedule: 'x' };
    await claim('a#1', { token, scheduledAt: storeTime + 1_000, update });
    await release('a#1');
    const kept = {
      newestClaimed: storeTime + 1_000,
      claimedBy: `a#1 ${String(token)}`,
      newestSettled: storeTime - 7,
      lastRunEndedAt: storeTime - 5,
      schedule: 'x',
      stateCreatedAt,
    };
    await world.passTime(5);
    includes(await granted(other, acquireRequest('b#1')), kept);
    includes(await granted(other, acquireRequest('b#1')), kept);
    includes(await refused(store, acquireRequest('a#2')), kept);
  },

  'takes the update of a renewal, a claim and a release': async ({ store, other, renew, claim, release }) => {
    const { storeTime: at, token } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { newestClaimed: at + 1, newestSettled: at, schedule: 'x' });
    includes(await refused(other, acquireRequest('b#1')), { newestClaimed: at + 1, newestSettled: at, schedule: 'x' });
    await claim('a#1', { token, scheduledAt: at, update: { newestSettled: at + 1, lastRunEndedAt: at + 2 } });
    includes(await refused(other, acquireRequest('b#1')), { newestSettled: at + 1, lastRunEndedAt: at + 2 });
    await release('a#1', { newestClaimed: at + 9, newestSettled: at + 8, lastRunEndedAt: at + 7, schedule: 'x' });
    const update = { newestClaimed: at + 9, newestSettled: at + 8, lastRunEndedAt: at + 7, schedule: 'x' };
    includes(await granted(other, acquireRequest('b#1')), update);
  },

  'is never lowered by a late update': async ({ store, other, renew, release }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    const update = { newestClaimed: at + 30, newestSettled: at + 20, lastRunEndedAt: at + 10, schedule: 'x' };
    await renew('a#1', update);
    await renew('a#1', { newestClaimed: at + 3, newestSettled: at + 2, lastRunEndedAt: at + 1 });
    includes(await refused(other, acquireRequest('b#1')), update);
    await release('a#1', { newestClaimed: at, newestSettled: at, lastRunEndedAt: at });
    includes(await granted(other, acquireRequest('b#1')), update);
  },

  'keeps each field that an update leaves out': async ({ store, other, renew }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    const update = { newestClaimed: at, newestSettled: at, lastRunEndedAt: at, schedule: 'x' };
    await renew('a#1', update);
    await renew('a#1', { newestClaimed: undefined, schedule: undefined });
    await renew('a#1');
    includes(await refused(other, acquireRequest('b#1')), update);
  },

  'counts a settled occurrence as claimed, without a holder that claimed it': async ({
    store,
    other,
    renew,
    claim,
  }) => {
    const { storeTime: at, token } = await granted(store, acquireRequest('a#1'));
    await claim('a#1', { token, scheduledAt: at + 10 });
    await renew('a#1', { newestSettled: at + 10 });
    const claimedBy = `a#1 ${String(token)}`;
    includes(await refused(other, acquireRequest('b#1')), { newestClaimed: at + 10, claimedBy });
    await renew('a#1', { newestSettled: at + 20 });
    const settled = { newestClaimed: at + 20, newestSettled: at + 20, claimedBy: undefined };
    includes(await refused(other, acquireRequest('b#1')), settled);
  },

  'under another schedule is set to the update, and the end of the last run is deleted': async ({
    store,
    other,
    renew,
    claim,
  }) => {
    const { storeTime: at, token } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { schedule: 'x', newestSettled: at + 5, lastRunEndedAt: at });
    await claim('a#1', { token, scheduledAt: at + 50 });
    await renew('a#1', { schedule: 'y', newestClaimed: at + 2, newestSettled: at + 1 });
    includes(await refused(other, acquireRequest('b#1')), {
      schedule: 'y',
      newestClaimed: at + 2,
      newestSettled: at + 1,
      claimedBy: undefined,
      lastRunEndedAt: undefined,
    });
  },

  'under another schedule keeps fields that the update leaves out, except the end of the last run': async ({
    store,
    other,
    renew,
    claim,
  }) => {
    const { storeTime: at, token } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { schedule: 'x', newestSettled: at + 5, lastRunEndedAt: at });
    await claim('a#1', { token, scheduledAt: at + 50 });
    await renew('a#1', { schedule: 'y' });
    includes(await refused(other, acquireRequest('b#1')), {
      schedule: 'y',
      newestClaimed: at + 50,
      newestSettled: at + 5,
      claimedBy: `a#1 ${String(token)}`,
      lastRunEndedAt: undefined,
    });
  },

  'under another schedule is lowered once: a late copy of the same update lowers nothing': async ({
    store,
    other,
    renew,
  }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { schedule: 'x', newestClaimed: at + 50, lastRunEndedAt: at });
    const first = { schedule: 'y', newestClaimed: at + 2, newestSettled: at + 1 };
    await renew('a#1', first);
    const newer = { newestClaimed: at + 20, newestSettled: at + 10, lastRunEndedAt: at + 9 };
    await renew('a#1', newer);
    await renew('a#1', first);
    includes(await refused(other, acquireRequest('b#1')), { ...newer, schedule: 'y' });
  },

  'that had no schedule keeps the end of the last run under its first one': async ({ store, other, renew }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { lastRunEndedAt: at });
    await renew('a#1', { schedule: 'x' });
    includes(await refused(other, acquireRequest('b#1')), { lastRunEndedAt: at, schedule: 'x' });
  },

  'is not changed by a refusal for any reason': async ({ store, other, renew, release }) => {
    const { storeTime: at, stateCreatedAt } = await granted(store, acquireRequest('a#1'));
    await renew('a#1', { newestClaimed: at, schedule: 'x' });
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

  'that is lost is not created again by a release without an update': async ({ world, store, other, release }) => {
    await granted(store, acquireRequest('a#1'));
    await world.loseState('price-tick');
    includes(await release('a#1'), { released: true });
    await world.occupy('price-tick', 'another-client');
    includes(await refused(other, acquireRequest('b#1')), { ...NOTHING, token: 0, stateCreatedAt: undefined });
  },

  'that is lost while a leader continues contains what the leader records': async ({ world, store, other, renew }) => {
    const { storeTime: at } = await granted(store, acquireRequest('a#1'));
    await world.loseState('price-tick');
    await renew('a#1', { newestSettled: at, schedule: 'x' });
    const refusal = await refused(other, acquireRequest('b#1'));
    includes(refusal, { newestSettled: at, newestClaimed: at, schedule: 'x', stateCreatedAt: undefined, token: 0 });
  },
};
