import { includes } from './assertions.js';
import { acquireRequest, granted, heartbeat, refused } from './requests.js';
import { type Rules } from './rule-context.js';

export const OUTDATED_STATE: Rules = {
  'is one that differs from the state that the request knows': async ({ store, other, release }) => {
    const { stateCreatedAt } = await granted(store, acquireRequest('a#1'));
    await release('a#1');
    const outdated = acquireRequest('b#1', { knownStateCreatedAt: stateCreatedAt - 1 });
    includes(await refused(other, outdated), { reason: 'outdated', holder: undefined, stateCreatedAt });
    await granted(other, acquireRequest('b#1', { knownStateCreatedAt: stateCreatedAt }));
  },

  'is one that was lost': async ({ fixture, store, other }) => {
    const { stateCreatedAt } = await granted(store, acquireRequest('a#1'));
    await fixture.loseData();
    const outdated = acquireRequest('b#1', { knownStateCreatedAt: stateCreatedAt, isFirstStart: true });
    includes(await refused(other, outdated), { reason: 'outdated', stateCreatedAt: undefined });
  },

  'does not refuse a request that knows no state': async ({ store, other, release }) => {
    await granted(store, acquireRequest('a#1'));
    await release('a#1');
    await granted(other, acquireRequest('b#1'));
  },

  'is not the reason of a refusal while the lock is held': async ({ store, other }) => {
    await granted(store, acquireRequest('a#1'));
    includes(await refused(other, acquireRequest('b#1', { knownStateCreatedAt: 1 })), { reason: 'held' });
  },
};

export const OUTDATED_HEARTBEAT: Rules = {
  'is one that another server has answered': async ({ store }) => {
    const { serverSince } = await heartbeat(store, []);
    const request = acquireRequest('a#1', { heartbeat: { serverId: 'another', serverSince } });
    includes(await refused(store, request), { reason: 'outdated', holder: undefined });
  },

  'is one from before a loss of data': async ({ fixture, store, other }) => {
    const before = await heartbeat(store, []);
    await granted(store, acquireRequest('a#1', { name: 'one', heartbeat: before }));
    await fixture.passTime(5);
    await fixture.loseData();
    const request = acquireRequest('a#1', { heartbeat: before, isFirstStart: true });
    includes(await refused(store, request), { reason: 'outdated' });
    const after = await heartbeat(other, []);
    includes(await refused(store, request), { reason: 'outdated' });
    await granted(store, { ...request, heartbeat: after });
  },

  'is the reason of a refusal also if the request was granted before': async ({ fixture, store }) => {
    const before = await heartbeat(store, []);
    const request = acquireRequest('a#1', { heartbeat: before });
    await granted(store, request);
    await fixture.loseData();
    await fixture.occupy('price-tick', 'a#1');
    includes(await refused(store, request), { reason: 'outdated', holder: 'a#1' });
  },

  'refuses nothing if the store did not name its server': async ({ store }) => {
    await granted(store, acquireRequest('a#1', { heartbeat: { serverId: undefined, serverSince: 0 } }));
  },
};
