import { deepEqual, equal } from 'node:assert/strict';
import { includes } from './assertions.js';
import { acquireRequest, granted, heartbeat, kept, LONG_MS, sessionOfReplica } from './requests.js';
import { type Rules } from './rule-context.js';

const BACK_MS = 60_000;

export const CLOCK_SET_BACK: Rules = {
  'extends no session that has ended': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a', { lockExpiryMs: 40 });
    const { end } = await kept(store, session);
    await fixture.passTime(80);
    await heartbeat(other, []);
    await fixture.setClockBack?.(BACK_MS);
    includes(await kept(store, { ...session, confirmedEnd: end }), { status: 'ended' });
  },

  'gives a living session its full life from the new now': async ({ fixture, store }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    await fixture.setClockBack?.(BACK_MS);
    const { storeTime, sessions } = await heartbeat(store, [{ ...session, confirmedEnd: end }]);
    deepEqual(sessions, [{ status: 'extended', end: storeTime + LONG_MS }]);
    equal(storeTime < end - LONG_MS, true);
  },

  'ends a session that its replica no longer extends after its lockExpiry, not after the step': async ({
    fixture,
    store,
    other,
  }) => {
    await kept(store, sessionOfReplica('a', { lockExpiryMs: 40 }));
    await fixture.setClockBack?.(BACK_MS);
    const { storeTime, changes } = await heartbeat(other, []);
    deepEqual(changes.get('a.1@40'), { hasEnded: false, end: storeTime + 40 });
    await fixture.passTime(80);
    deepEqual((await heartbeat(other, [])).changes.get('a.1@40'), { hasEnded: true, end: storeTime + 40 });
  },

  'forgets ended sessions no later than without the step': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a', { id: 'a.1@40' });
    const { end } = await kept(store, session);
    await store.endSession({ ...session, confirmedEnd: end });
    await fixture.setClockBack?.(BACK_MS);
    const { storeTime, changes } = await heartbeat(other, []);
    deepEqual(changes.get(session.id), { hasEnded: true, end: storeTime });
  },

  'is no change of the list of sessions': async ({ fixture, store, other }) => {
    await kept(store, sessionOfReplica('a'));
    const known = await heartbeat(other, []);
    await fixture.setClockBack?.(BACK_MS);
    const { changes, ...result } = await heartbeat(other, [], known);
    equal(changes.size, 0);
    includes(result, { isWholeList: false, version: known.version, listedCount: 1 });
  },

  'is no restart': async ({ fixture, store, other }) => {
    const { serverId, serverSince } = await heartbeat(store, []);
    await fixture.setClockBack?.(BACK_MS);
    includes(await heartbeat(other, []), { serverId, serverSince });
  },

  'lowers no fencing token': async ({ fixture, store, other, release }) => {
    const { token } = await granted(store, acquireRequest('a#1'));
    await release('a#1');
    await fixture.setClockBack?.(BACK_MS);
    equal((await granted(other, acquireRequest('b#1'))).token, token + 1);
  },
};
