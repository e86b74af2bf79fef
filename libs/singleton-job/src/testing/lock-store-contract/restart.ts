import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { above, includes } from './assertions.js';
import { acquireRequest, granted, heartbeat, kept, LONG_MS, refused, sessionOfReplica } from './requests.js';
import { type Rules } from './rule-context.js';

const SHORT_MS = 40;

export const RESTART: Rules = {
  'gives every session that is not marked as ended a full life from now': async ({ fixture, store, other }) => {
    const forgotten = sessionOfReplica('a', { lockExpiryMs: SHORT_MS });
    const known = await heartbeat(store, [forgotten, sessionOfReplica('b')]);
    await fixture.restart?.();
    await fixture.passTime(2 * SHORT_MS);
    const result = await heartbeat(other, [], known);
    notEqual(result.serverId, known.serverId);
    above(result.serverSince, known.serverSince);
    equal(result.serverSince, result.storeTime);
    deepEqual(Object.fromEntries(result.changes), {
      'a.1@40': { hasEnded: false, end: result.storeTime + SHORT_MS },
      'b.1@600000': { hasEnded: false, end: result.storeTime + LONG_MS },
    });
  },

  'leaves every ended session ended': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    await store.endSession(session);
    await fixture.restart?.();
    const { changes } = await heartbeat(other, []);
    deepEqual(changes.get(session.id), { hasEnded: true, end });
    deepEqual(await kept(store, { ...session, confirmedEnd: end }), { status: 'ended', end });
  },

  'is noticed once: the second heartbeat has the usual result': async ({ fixture, store, other }) => {
    await kept(store, sessionOfReplica('a'));
    await fixture.restart?.();
    const known = await heartbeat(store, []);
    await fixture.passTime(5);
    const { serverSince, isWholeList, changes } = await heartbeat(other, [], known);
    equal(serverSince, known.serverSince);
    deepEqual([isWholeList, changes.size], [false, 0]);
  },

  'makes each request outdated that uses a heartbeat from before': async ({ fixture, store, other }) => {
    const before = await heartbeat(store, []);
    await fixture.restart?.();
    includes(await refused(store, acquireRequest('a#1', { heartbeat: before })), { reason: 'outdated' });
    const after = await heartbeat(other, []);
    includes(await refused(store, acquireRequest('a#1', { heartbeat: before })), { reason: 'outdated' });
    await granted(store, acquireRequest('a#1', { heartbeat: after }));
  },

  'leaves locks and states as they are': async ({ fixture, store, other, renew }) => {
    const { token } = await granted(store, acquireRequest('a#1'));
    await fixture.restart?.();
    includes(await refused(other, acquireRequest('b#1')), { reason: 'held', holder: 'a#1', token });
    includes(await renew('a#1'), { held: true });
  },
};
