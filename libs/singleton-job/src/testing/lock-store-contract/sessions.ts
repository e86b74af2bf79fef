import { deepEqual, equal, notEqual } from 'node:assert/strict';
import { type HeartbeatResult } from '../../store/lock-store.js';
import { above, includes } from './assertions.js';
import { heartbeat, kept, LONG_MS, sessionOfReplica } from './requests.js';
import { type Rules } from './rule-context.js';

const SHORT_MS = 40;

export const LIST_OF_SESSIONS: Rules = {
  'is sent whole to a replica that has none, ended sessions included': async ({ fixture, store, other }) => {
    const dead = await kept(store, sessionOfReplica('dead', { lockExpiryMs: SHORT_MS }));
    await fixture.passTime(2 * SHORT_MS);
    const alive = await kept(store, sessionOfReplica('a'));
    const { changes, ...result } = await heartbeat(other, []);
    includes(result, { isWholeList: true, listedCount: 2 });
    deepEqual(Object.fromEntries(changes), {
      'dead.1@40': { hasEnded: true, end: dead.end },
      'a.1@600000': { hasEnded: false, end: alive.end },
    });
  },

  'does not change while sessions are only extended': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    const known = await heartbeat(other, []);
    await fixture.passTime(5);
    await kept(store, { ...session, confirmedEnd: end });
    const { changes, ...result } = await heartbeat(other, [], known);
    deepEqual([...changes], []);
    includes(result, { isWholeList: false, listedCount: 1, version: known.version });
  },

  'sends a session that begins, and nothing else': async ({ store, other }) => {
    await kept(store, sessionOfReplica('a'));
    const known = await heartbeat(other, []);
    const { end } = await kept(store, sessionOfReplica('b'));
    const { changes, version, ...result } = await heartbeat(other, [], known);
    above(version, known.version);
    deepEqual(Object.fromEntries(changes), { 'b.1@600000': { hasEnded: false, end } });
    includes(result, { isWholeList: false, listedCount: 2 });
  },

  'sends a session that has ended, once': async ({ fixture, store, other }) => {
    await kept(store, sessionOfReplica('a', { lockExpiryMs: SHORT_MS }));
    const session = sessionOfReplica('b');
    const { end } = await kept(store, session);
    const known = await heartbeat(other, []);
    await store.endSession({ ...session, confirmedEnd: end });
    const second = await heartbeat(other, [], known);
    deepEqual(second.changes.get(session.id), { hasEnded: true, end });
    await fixture.passTime(2 * SHORT_MS);
    const third = await heartbeat(other, [], second);
    // on a busy machine it had ended by an earlier heartbeat
    const [shown] = [third, second, known].flatMap(({ changes }) => changes.get('a.1@40') ?? []);
    includes(shown ?? {}, { hasEnded: true });
    includes(third, { isWholeList: false, listedCount: 2 });
    const fourth = await heartbeat(other, [], third);
    equal(fourth.changes.size, 0);
  },

  'has all changes since the version that the replica knows': async ({ store, other }) => {
    const known = await heartbeat(other, []);
    const [first, second] = [sessionOfReplica('a'), sessionOfReplica('b')];
    await kept(store, first);
    await kept(store, second);
    await store.endSession(first);
    const later = await heartbeat(other, [], known);
    equal(list(later), 'a.1@600000 ended, b.1@600000');
    equal(list(await heartbeat(other, [], known)), list(later));
    equal(list(await heartbeat(other, [], later)), '');
  },

  'is sent whole to a replica whose list is of another server or of a later version': async ({ store, other }) => {
    await kept(store, sessionOfReplica('a'));
    const { version, serverSince } = await heartbeat(other, []);
    for (const known of [
      { version, serverSince: serverSince - 1 },
      { version: version + 1, serverSince },
    ]) {
      const result = await heartbeat(other, [], known);
      includes(result, { isWholeList: true, version });
      equal(list(result), 'a.1@600000');
    }
  },

  'that was lost shows by its number': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    await kept(store, sessionOfReplica('dead'));
    const known = await heartbeat(other, []);
    await fixture.loseSessions();
    includes(await heartbeat(other, [], known), { isWholeList: false, listedCount: 0 });
    await kept(store, { ...session, confirmedEnd: end });
    const result = await heartbeat(other, [], known);
    includes(result, { isWholeList: false, listedCount: 1 });
    equal(list(result), 'a.1@600000');
    equal(list(await heartbeat(other, [])), 'a.1@600000');
  },

  'that was lost lists each session again whose confirmed end has not passed': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    const before = await heartbeat(other, []);
    await fixture.loseSessions();
    const { sessions, storeTime, ...result } = await heartbeat(store, [{ ...session, confirmedEnd: end }]);
    deepEqual(sessions, [{ status: 'listed-again', end: storeTime + LONG_MS }]);
    includes(result, { serverId: before.serverId, serverSince: before.serverSince });
    notEqual(result.version, before.version);
  },

  'that was lost does not list a session again whose confirmed end has passed': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a', { lockExpiryMs: SHORT_MS });
    const confirmedEnd = (await kept(store, session)).end;
    await fixture.loseSessions();
    await fixture.passTime(2 * SHORT_MS);
    deepEqual(await kept(store, { ...session, confirmedEnd }), { status: 'ended', end: confirmedEnd });
    // and not as ended, because the heartbeat may be an old one that arrives late
    equal(list(await heartbeat(other, [])), '');
  },

  'keeps an ended session for two lives of a lock': async ({ store, other }) => {
    await endLongAgo(store, 'a.1@10000', 60_000);
    await endLongAgo(store, 'b.1@10000', 80_000);
    await endLongAgo(store, 'a.2@3600000', 7_230_000);
    await endLongAgo(store, 'b.2@3600000', 7_250_000);
    const result = await heartbeat(other, []);
    equal(list(result), 'a.1@10000 ended, a.2@3600000 ended');
    includes(result, { listedCount: 2 });
  },

  'does not change its version when it forgets a session': async ({ store, other }) => {
    const known = await heartbeat(other, []);
    await endLongAgo(store, 'a.1@10000', 80_000);
    // the end of the session is a change, and the heartbeat forgets it
    const { version, ...result } = await heartbeat(other, [], known);
    equal(list(result), '');
    includes(result, { isWholeList: false, listedCount: 0 });
    includes(await heartbeat(other, []), { version });
  },
};

export const END_OF_SESSION: Rules = {
  'is final: a session whose time has passed is never extended again': async ({ fixture, store }) => {
    const session = sessionOfReplica('a', { lockExpiryMs: SHORT_MS });
    const { end } = await kept(store, session);
    await fixture.passTime(2 * SHORT_MS);
    deepEqual(await kept(store, { ...session, confirmedEnd: end }), { status: 'ended', end });
    deepEqual(await kept(store, { ...session, lockExpiryMs: LONG_MS }), { status: 'ended', end });
  },

  'is noticed at the heartbeat of any replica': async ({ fixture, store, other }) => {
    const { end } = await kept(store, sessionOfReplica('a', { lockExpiryMs: SHORT_MS }));
    await fixture.passTime(2 * SHORT_MS);
    const { changes } = await heartbeat(other, [sessionOfReplica('b')]);
    deepEqual(changes.get('a.1@40'), { hasEnded: true, end });
  },

  'is final also when its replica ended it, and keeps the confirmed end': async ({ store, other }) => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    await store.endSession({ ...session, confirmedEnd: end });
    await store.endSession({ ...session, confirmedEnd: end });
    deepEqual(await kept(store, { ...session, confirmedEnd: end }), { status: 'ended', end });
    const { changes } = await heartbeat(other, []);
    deepEqual(changes.get(session.id), { hasEnded: true, end });
  },

  'is final also when the list was lost before': async ({ fixture, store, other }) => {
    const session = sessionOfReplica('a');
    const confirmedEnd = (await kept(store, session)).end;
    await fixture.loseSessions();
    await store.endSession({ ...session, confirmedEnd });
    deepEqual(await kept(store, { ...session, confirmedEnd }), { status: 'ended', end: confirmedEnd });
    includes((await heartbeat(other, [])).changes.get(session.id) ?? {}, { hasEnded: true, end: confirmedEnd });
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

/** The sessions of an answer, in the order of their ids. */
function list({ changes }: Pick<HeartbeatResult, 'changes'>): string {
  const sessions = [...changes].map(([id, { hasEnded }]) => (hasEnded ? `${id} ended` : id));
  return sessions.sort().join(', ');
}

/** Lists a session whose last confirmed end is so long ago. */
async function endLongAgo(store: Parameters<typeof heartbeat>[0], id: string, agoMs: number): Promise<void> {
  const { storeTime } = await heartbeat(store, []);
  await store.endSession(sessionOfReplica('', { id, lockExpiryMs: 10_000, confirmedEnd: storeTime - agoMs }));
}
