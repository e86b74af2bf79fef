import { deepEqual } from 'node:assert/strict';
import { above, includes, sameResult } from './assertions.js';
import { acquireRequest, granted, heartbeat, LONG_MS, refused, sessionOfReplica } from './requests.js';
import { type Rules } from './rule-context.js';

export const PAUSE: Rules = {
  'returns since when the job is paused, and the holder of its lock': async ({ fixture, store, setPaused }) => {
    const first = await setPaused(true);
    includes(first, { pausedAt: first.storeTime, holder: undefined });
    await fixture.passTime(5);
    includes(await setPaused(true), { pausedAt: first.pausedAt });
    includes(await setPaused(false), { pausedAt: undefined, holder: undefined });
    includes(await setPaused(false), { pausedAt: undefined });
    await granted(store, acquireRequest('a#1'));
    includes(await setPaused(true), { holder: 'a#1' });
    includes(await setPaused(false), { holder: 'a#1', pausedAt: undefined });
  },

  'refuses the lock to every replica until it ends': async ({ store, other, setPaused }) => {
    const { pausedAt } = await setPaused(true);
    for (const each of [store, other]) {
      const refusal = await refused(each, acquireRequest('b#1'));
      includes(refusal, { reason: 'paused', holder: undefined, ttlMs: 0, pausedAt, stateCreatedAt: undefined });
    }
    await setPaused(false);
    includes(await granted(other, acquireRequest('b#1')), { pausedAt: undefined });
  },

  'raises the version of pauses when it begins and when it ends': async ({ store, other, setPaused }) => {
    const before = await heartbeat(other, []);
    await setPaused(true);
    const paused = await heartbeat(other, []);
    above(paused.pausesVersion, before.pausesVersion);
    await setPaused(false);
    const resumed = await heartbeat(store, [sessionOfReplica('a')]);
    above(resumed.pausesVersion, paused.pausesVersion);
    const { pausesVersion } = resumed;
    await granted(store, acquireRequest('a#1'));
    includes(await heartbeat(other, []), { pausesVersion });
  },

  'of one job does not affect another': async ({ store, setPaused }) => {
    await setPaused(true);
    await granted(store, acquireRequest('a#1', { name: 'other' }));
  },

  'leaves the lock to its holder, and is in the result of each renewal and claim': async ({
    store,
    other,
    renew,
    claim,
    setPaused,
  }) => {
    const { token, storeTime } = await granted(store, acquireRequest('a#1'));
    const { pausedAt } = await setPaused(true);
    includes(await renew('a#1'), { held: true, pausedAt });
    includes(await claim('a#1', { token, scheduledAt: storeTime + 5 }), { holder: 'a#1', pausedAt });
    includes(await refused(other, acquireRequest('b#1')), { reason: 'held', holder: 'a#1', pausedAt });
    includes(await renew('b#1'), { held: false, holder: 'a#1', pausedAt });
    includes(await claim('b#1', { token, scheduledAt: storeTime + 6 }), { outcome: 'not-leader', pausedAt });
    await setPaused(false);
    includes(await renew('a#1'), { held: true, pausedAt: undefined });
  },

  'refuses every new claim': async ({ store, claim, setPaused }) => {
    const { token, storeTime: at } = await granted(store, acquireRequest('a#1'));
    await claim('a#1', { token, scheduledAt: at + 5 });
    await setPaused(true);
    includes(await claim('a#1', { token, scheduledAt: at + 5 }), { outcome: 'already-ours' });
    includes(await claim('a#1', { token, scheduledAt: at + 4 }), { outcome: 'taken' });
    includes(await claim('a#1', { token, scheduledAt: at + 120_000 }), { outcome: 'too-early' });
    includes(await claim('a#1', { token, scheduledAt: at + 6 }), { outcome: 'paused', claimed: at + 5 });
    await setPaused(false);
    includes(await claim('a#1', { token, scheduledAt: at + 6 }), { outcome: 'claimed' });
  },

  'does not refuse the repeated request of the holder': async ({ store, setPaused }) => {
    const first = await granted(store, acquireRequest('a#1'));
    const { pausedAt } = await setPaused(true);
    sameResult(await granted(store, acquireRequest('a#1')), { ...first, previousHolder: 'a#1', pausedAt });
  },

  'refuses the next attempt of a session, and a takeover': async ({ store, setPaused }) => {
    await granted(store, acquireRequest('a.1@800#1'));
    await setPaused(true);
    for (const request of [acquireRequest('a.1@800#2'), acquireRequest('b.1@800#1', { endedSession: 'a.1@800' })]) {
      includes(await refused(store, request), { reason: 'paused', holder: 'a.1@800#1' });
    }
  },

  'is the reason of a refusal even if the state is outdated or the time has not come': async ({ store, setPaused }) => {
    await setPaused(true);
    const notBefore = (await heartbeat(store, [])).storeTime + LONG_MS;
    const requests = [acquireRequest('a#1', { knownStateCreatedAt: 1 }), acquireRequest('a#1', { notBefore })];
    for (const request of requests) includes(await refused(store, request), { reason: 'paused' });
  },

  'creates no state: a first start after it does not wait': async ({ store, setPaused }) => {
    await setPaused(true);
    const notBefore = (await heartbeat(store, [])).storeTime + LONG_MS;
    await setPaused(false);
    const grant = await granted(store, acquireRequest('a#1', { notBefore, isFirstStart: true }));
    includes(grant, { stateCreatedAt: grant.storeTime });
  },

  'survives its leader, and changes nothing else of the state': async ({ store, other, renew, release, setPaused }) => {
    const { storeTime: at, stateCreatedAt, token } = await granted(store, acquireRequest('a#1'));
    const state = { claimed: at + 2, handled: at + 1, runEndedAt: at - 100, schedule: 'x' };
    await renew('a#1', state);
    const { pausedAt } = await setPaused(true);
    await renew('a#1', { handled: at + 2 });
    await release('a#1', { runEndedAt: at - 99 });
    const kept = { ...state, handled: at + 2, runEndedAt: at - 99, stateCreatedAt, token };
    includes(await refused(other, acquireRequest('b#1')), { ...kept, reason: 'paused', pausedAt });
    await setPaused(false);
    const { token: next, ...rest } = kept;
    const grant = await granted(other, acquireRequest('b#1'));
    includes(grant, { ...rest, pausedAt: undefined });
    deepEqual(grant.token > next, true);
  },

  'is lost with the data': async ({ fixture, store, setPaused }) => {
    await setPaused(true);
    await fixture.loseData();
    includes(await granted(store, acquireRequest('a#1')), { pausedAt: undefined });
  },
};
