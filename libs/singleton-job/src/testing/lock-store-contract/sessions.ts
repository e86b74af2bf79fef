import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { includes } from './assertions.js';
import { heartbeat, kept, LONG_MS, sessionOfReplica } from './requests.js';
import { type Rules } from './scene.js';

const SHORT_MS = 40;

export const LIST_OF_SESSIONS: Rules = {
  'is sent to a replica that has none, ended sessions included': async ({ world, store, other }) => {
    const dead = await kept(store, sessionOfReplica('dead', { lockExpiryMs: SHORT_MS }));
    await world.passTime(2 * SHORT_MS);
    const alive = await kept(store, sessionOfReplica('a'));
    const { list } = await heartbeat(other, []);
    deepEqual(Object.fromEntries(list ?? []), {
      'dead.1@40': { hasEnded: true, end: dead.end },
      'a.1@600000': { hasEnded: false, end: alive.end },
    });
  },

  'is not sent again while sessions are only extended': async ({ world, store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    const known = await heartbeat(other, []);
    await world.passTime(5);
    await kept(store, { ...session, confirmedEnd: end });
    const { list, version } = await heartbeat(other, [], known);
    equal(list, undefined);
    equal(version, known.version);
  },

  'is sent again when a session begins': async ({ store, other }) => {
    const known = await heartbeat(other, []);
    await kept(store, sessionOfReplica('a'));
    const { list, version } = await heartbeat(other, [], known);
    notEqual(version, known.version);
    deepEqual([...(list?.keys() ?? [])], ['a.1@600000']);
  },

  'is sent again when a session has ended': async ({ world, store, other }) => {
    await kept(store, sessionOfReplica('a', { lockExpiryMs: SHORT_MS }));
    const session = sessionOfReplica('b');
    await kept(store, session);
    const known = await heartbeat(other, []);
    await store.endSession(session);
    const second = await heartbeat(other, [], known);
    includes(second.list?.get(session.id) ?? {}, { hasEnded: true });
    await world.passTime(2 * SHORT_MS);
    const third = await heartbeat(other, [], second);
    // on a busy machine it had ended by the second heartbeat
    includes((third.list ?? second.list)?.get('a.1@40') ?? {}, { hasEnded: true });
    equal((await heartbeat(other, [], third)).list, undefined);
  },

  'is sent to a replica that knows another version': async ({ store }) => {
    const { version, serverSince } = await heartbeat(store, []);
    notEqual((await heartbeat(store, [], { version, serverSince: serverSince - 1 })).list, undefined);
  },

  'that was lost lists each session again whose confirmed end has not passed': async ({ world, store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    const before = await heartbeat(other, []);
    await world.loseSessions();
    const { sessions, storeTime, ...result } = await heartbeat(store, [{ ...session, confirmedEnd: end }]);
    deepEqual(sessions, [{ status: 'listed-again', end: storeTime + LONG_MS }]);
    includes(result, { serverId: before.serverId, serverSince: before.serverSince });
    notEqual(result.version, before.version);
  },

  'that was lost does not list a session again whose confirmed end has passed': async ({ world, store, other }) => {
    const session = sessionOfReplica('a', { lockExpiryMs: SHORT_MS });
    const confirmedEnd = (await kept(store, session)).end;
    await world.loseSessions();
    await world.passTime(2 * SHORT_MS);
    deepEqual(await kept(store, { ...session, confirmedEnd }), { status: 'ended', end: confirmedEnd });
    // and not as ended, because the heartbeat may be an old one that arrives late
    deepEqual([...((await heartbeat(other, [])).list ?? [])], []);
  },

  'keeps an ended session for ten minutes': async ({ store, other }) => {
    await endLongAgo(store, 'a.1@10000', 590_000);
    await endLongAgo(store, 'b.1@10000', 610_000);
    const { list } = await heartbeat(other, []);
    deepEqual([...(list?.keys() ?? [])], ['a.1@10000']);
  },

  'keeps an ended session for twice the life of its locks, if that is longer': async ({ store, other }) => {
    await endLongAgo(store, 'a.1@3600000', 7_230_000);
    await endLongAgo(store, 'b.1@3600000', 7_250_000);
    const { list, version } = await heartbeat(other, []);
    deepEqual([...(list?.keys() ?? [])], ['a.1@3600000']);
    equal((await heartbeat(other, [])).version, version);
  },
};

export const END_OF_SESSION: Rules = {
  'is final: a session whose time has passed is never extended again': async ({ world, store }) => {
    const session = sessionOfReplica('a', { lockExpiryMs: SHORT_MS });
    const { end } = await kept(store, session);
    await world.passTime(2 * SHORT_MS);
    deepEqual(await kept(store, { ...session, confirmedEnd: end }), { status: 'ended', end });
    deepEqual(await kept(store, { ...session, lockExpiryMs: LONG_MS }), { status: 'ended', end });
  },

  'is noticed at the heartbeat of any replica': async ({ world, store, other }) => {
    const { end } = await kept(store, sessionOfReplica('a', { lockExpiryMs: SHORT_MS }));
    await world.passTime(2 * SHORT_MS);
    const { list } = await heartbeat(other, [sessionOfReplica('b')]);
    deepEqual(list?.get('a.1@40'), { hasEnded: true, end });
  },

  'is final also when its replica ended it, and keeps the confirmed end': async ({ store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    await store.endSession({ ...session, confirmedEnd: end });
    await store.endSession({ ...session, confirmedEnd: end });
    deepEqual(await kept(store, { ...session, confirmedEnd: end }), { status: 'ended', end });
    const { list } = await heartbeat(other, []);
    deepEqual(list?.get(session.id), { hasEnded: true, end });
  },

  'is final also when the list was lost before': async ({ world, store, other }) => {
    const session = sessionOfReplica('a');
    const confirmedEnd = (await kept(store, session)).end;
    await world.loseSessions();
    await store.endSession({ ...session, confirmedEnd });
    deepEqual(await kept(store, { ...session, confirmedEnd }), { status: 'ended', end: confirmedEnd });
    includes((await heartbeat(other, [])).list?.get(session.id) ?? {}, { hasEnded: true, end: confirmedEnd });
  },

  'is final also for a session whose first heartbeat arrives late': async ({ store }) => {
    const session = sessionOfReplica('a');
    await store.endSession(session);
    includes(await kept(store, session), { status: 'ended' });
  },

  'does not touch the other sessions of the replica': async ({ store }) => {
    const [first, second] = [sessionOfReplica('a'), sessionOfReplica('a', { id: 'a.2@600000' })];
    await heartbeat(store, [first, second]);
    await store.endSession(first);
    const { sessions } = await heartbeat(store, [first, second]);
    equal(sessions.map(({ status }) => status).join(), 'ended,extended');
  },
};

/** Lists a session whose last confirmed end is so long ago. */
async function endLongAgo(store: Parameters<typeof heartbeat>[0], id: string, agoMs: number): Promise<void> {
  const { storeTime } = await heartbeat(store, []);
  await store.endSession(sessionOfReplica('', { id, lockExpiryMs: 10_000, confirmedEnd: storeTime - agoMs }));
}
