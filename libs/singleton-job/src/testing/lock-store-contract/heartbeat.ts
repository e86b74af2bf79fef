import { equal, notEqual } from 'node:assert/strict';
import { above, atLeast, includes } from './assertions.js';
import { heartbeat, kept, LONG_MS, sessionOfReplica } from './requests.js';
import { type Rules } from './rule-context.js';

const SHORT_MS = 40;

export const HEARTBEAT: Rules = {
  'gives a session its full life from now': async ({ fixture, store }) => {
    const session = sessionOfReplica('a');
    const first = await heartbeat(store, [session]);
    includes(first.sessions[0] ?? {}, { status: 'extended', end: first.storeTime + LONG_MS });
    await fixture.passTime(5);
    const second = await heartbeat(store, [{ ...session, confirmedEnd: first.sessions[0]?.end }]);
    includes(second.sessions[0] ?? {}, { status: 'extended', end: second.storeTime + LONG_MS });
    above(second.storeTime, first.storeTime);
  },

  'sets the end of a session, also to an earlier time': async ({ store, other }) => {
    const session = sessionOfReplica('a');
    await kept(store, session);
    const { storeTime } = await heartbeat(store, [{ ...session, lockExpiryMs: LONG_MS / 2 }]);
    const { changes } = await heartbeat(other, []);
    includes(changes.get(session.id) ?? {}, { hasEnded: false, end: storeTime + LONG_MS / 2 });
  },

  'has a result for each session of the request, in the same order': async ({ fixture, store }) => {
    const [ended, alive, fresh] = [
      sessionOfReplica('a', { id: 'a.1@40', lockExpiryMs: SHORT_MS }),
      sessionOfReplica('a', { id: 'a.2@600000' }),
      sessionOfReplica('a', { id: 'a.3@800', lockExpiryMs: 800 }),
    ];
    await heartbeat(store, [ended, alive]);
    await fixture.passTime(2 * SHORT_MS);
    const { sessions, storeTime } = await heartbeat(store, [alive, ended, fresh]);
    equal(sessions.map(({ status }) => status).join(), 'extended,ended,extended');
    equal(sessions[0]?.end, storeTime + LONG_MS);
    equal(sessions[2]?.end, storeTime + 800);
  },

  'without sessions changes nothing': async ({ store, other }) => {
    const before = await heartbeat(other, []);
    const result = await heartbeat(store, []);
    includes(result, { sessions: [], listedCount: 0, nextEnd: undefined });
    includes(await heartbeat(other, [], before), { isWholeList: false, version: before.version });
  },

  'returns the id of the server, since when it runs, and its time': async ({ fixture, store, other }) => {
    const first = await heartbeat(store, []);
    notEqual(first.serverId, undefined);
    atLeast(first.storeTime, first.serverSince);
    await fixture.passTime(5);
    const { serverId, serverSince } = await heartbeat(other, [sessionOfReplica('b')]);
    includes(first, { serverId, serverSince });
  },

  'returns when the next session of another replica with the same lockExpiry ends': async ({ store, other }) => {
    const own = sessionOfReplica('a');
    includes(await heartbeat(store, [own]), { nextEnd: undefined });
    await kept(store, sessionOfReplica('a', { id: 'a.2@600000' }));
    await kept(other, sessionOfReplica('c', { lockExpiryMs: 300_000 }));
    includes(await heartbeat(store, [own]), { nextEnd: undefined });
    const { end } = await kept(other, sessionOfReplica('b'));
    await kept(other, sessionOfReplica('d.2@b', { id: 'd.2@b.1@600000' }));
    includes(await heartbeat(store, [own]), { nextEnd: end });
    includes(await heartbeat(store, []), { nextEnd: undefined });
  },

  'does not return the end of a session that has ended': async ({ store, other }) => {
    const ended = sessionOfReplica('b');
    await kept(other, ended);
    await other.endSession(ended);
    includes(await heartbeat(store, [sessionOfReplica('a')]), { nextEnd: undefined });
  },
};
