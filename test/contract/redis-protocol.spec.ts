import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Socket } from 'node:net';
import { type RedisLockStore } from '../../libs/singleton-job/src/store/redis/redis-lock-store.js';
import {
  acquireRequest,
  eventually,
  granted,
  heartbeat,
  kept,
  LONG_MS,
  refused,
  sessionOfReplica,
} from '../../libs/singleton-job/src/testing/lock-store-contract/requests.js';
import { RedisFixture } from './redis-fixture.js';

const SESSIONS = '{myapp:sessions}';
const SERVER = '{myapp:sessions}:server';
const CHANGES = '{myapp:sessions}:changes';
const LOCK = 'myapp:price-tick:lock';
const STATE = '{myapp:price-tick:lock}:state';

describe('what Redis sees', () => {
  let fixture: RedisFixture;
  let store: RedisLockStore;

  beforeAll(async () => {
    fixture = await RedisFixture.start();
    ({ store } = await fixture.connect());
  });

  beforeEach(async () => {
    await fixture.raw.flushall();
  });

  afterAll(async () => {
    await fixture[Symbol.asyncDispose]();
  });

  const renewal = { name: 'price-tick', holder: 'a#1', lifeMs: LONG_MS, update: {} };
  const release = { name: 'price-tick', holder: 'a#1', token: 7, update: {} };

  it('is a sorted set of sessions, whose scores are their ends, and those of ended ones minus their ends', async () => {
    const [dead, alive] = [sessionOfReplica('dead'), sessionOfReplica('pod.1@eu')];
    const { end } = await kept(store, dead);
    await store.endSession(dead);
    const { end: later } = await kept(store, alive);
    expect(await fixture.raw.zrangebyscore(SESSIONS, '-inf', '+inf', 'WITHSCORES')).toEqual([
      ...['dead.1@600000', String(-end)],
      ...['pod.1@eu.1@600000', String(later)],
    ]);
  });

  it('is a hash with the server, its time and the version of the list', async () => {
    const result = await heartbeat(store, [sessionOfReplica('a'), sessionOfReplica('b')]);
    const { serverId, serverSince, version, storeTime } = result;
    expect(await fixture.raw.hgetall(SERVER)).toEqual({
      runId: serverId,
      since: String(serverSince),
      version: String(version),
      seen: String(storeTime),
    });
    expect(await fixture.raw.info('server')).toContain(`run_id:${String(serverId)}`);
    const next = await heartbeat(store, [sessionOfReplica('c')]);
    expect(next.version).toBeGreaterThan(version);
    expect(await fixture.raw.hget(SERVER, 'version')).toBe(String(next.version));
  });

  it('is a sorted set of changes: the version in which each listed session was listed or ended', async () => {
    const [a, b] = [sessionOfReplica('a'), sessionOfReplica('b')];
    const first = await heartbeat(store, [a, b]);
    const scores = [a.id, String(first.version), b.id, String(first.version)];
    expect(await fixture.raw.zrangebyscore(CHANGES, '-inf', '+inf', 'WITHSCORES')).toEqual(scores);
    await store.endSession(a);
    const { version } = await heartbeat(store, [b]);
    expect(await fixture.raw.zrangebyscore(CHANGES, '-inf', '+inf', 'WITHSCORES')).toEqual([
      b.id,
      scores[1],
      a.id,
      String(version),
    ]);
    await fixture.raw.zadd(SESSIONS, -1, a.id);
    await heartbeat(store, [b]);
    expect(await fixture.raw.zrangebyscore(CHANGES, '-inf', '+inf')).toEqual([b.id]);
  });

  it.each([SESSIONS, CHANGES])('is a set of changes that is right again after %s was deleted', async (deleted) => {
    const [a, b] = [sessionOfReplica('a'), sessionOfReplica('b')];
    const known = await heartbeat(store, [a, b]);
    await fixture.raw.del(deleted);
    const { changes, ...result } = await heartbeat(store, [a], known);
    const listed = await fixture.raw.zrangebyscore(SESSIONS, '-inf', '+inf');
    expect((await fixture.raw.zrangebyscore(CHANGES, '-inf', '+inf')).sort()).toEqual(listed.sort());
    expect([...changes.keys()]).toEqual(expect.arrayContaining(listed));
    expect(result).toMatchObject({ isWholeList: false, listedCount: listed.length });
  });

  it('is a session with no more than its life when the clock of the server is behind', async () => {
    const known = await heartbeat(store, []);
    const HOUR = 3_600_000;
    await fixture.raw.hset(SERVER, 'seen', known.storeTime + HOUR);
    // a session with a shorter life hides behind one with a longer life
    const ends = { 'a.1@86400000': HOUR, 'b.1@500': HOUR, 'c.1@500': 300 };
    for (const [id, ms] of Object.entries(ends)) await fixture.raw.zadd(SESSIONS, known.storeTime + ms, id);
    await fixture.raw.zadd(SESSIONS, -(known.storeTime + HOUR), 'd.1@500');
    const { storeTime } = await heartbeat(store, []);
    const score = async (id: string) => Number(await fixture.raw.zscore(SESSIONS, id));
    expect(await score('a.1@86400000')).toBe(known.storeTime + HOUR);
    expect(await score('b.1@500')).toBe(storeTime + 500);
    expect(await score('c.1@500')).toBe(known.storeTime + 300);
    expect(await score('d.1@500')).toBe(-storeTime);
    expect(await fixture.raw.hget(SERVER, 'seen')).toBe(String(storeTime));
  });

  it('is a session that stays ended, with any clock of the server', async () => {
    const session = sessionOfReplica('a');
    const { end } = await kept(store, session);
    await fixture.raw.zadd(SESSIONS, -(end + LONG_MS), session.id);
    expect(await kept(store, session)).toEqual({ status: 'ended', end: end + LONG_MS });
  });

  it('may be a foreign member in the set of sessions, which heartbeats ignore', async () => {
    await fixture.raw.zadd(SESSIONS, 5_000_000_000_000, 'not a session');
    const { serverSince, nextEnd, listedCount } = await heartbeat(store, [sessionOfReplica('a')]);
    expect({ nextEnd, listedCount }).toEqual({ nextEnd: undefined, listedCount: 2 });
    expect(Number(await fixture.raw.zscore(SESSIONS, 'not a session'))).toBe(-serverSince);
  });

  it('is a lock under the key of the original, with the holder and a life', async () => {
    await granted(store, acquireRequest('node-a7.1@10000#3', { lifeMs: 60_000 }));
    expect(await fixture.raw.get(LOCK)).toBe('node-a7.1@10000#3');
    const ttl = await fixture.raw.pttl(LOCK);
    expect(ttl).toBeGreaterThan(30_000);
    expect(ttl).toBeLessThanOrEqual(60_000);
  });

  it('is a state beside the lock that lives for ever, in plain numbers', async () => {
    const grant = await granted(store, acquireRequest('a#1', { seenToken: 2_000_000_000_000_000 }));
    expect((await fixture.raw.keys('*')).sort()).toEqual([LOCK, STATE]);
    expect(await fixture.raw.pttl(STATE)).toBe(-1);
    expect(grant.token).toBe(2_000_000_000_000_001);
    expect(await fixture.raw.hgetall(STATE)).toEqual({
      token: '2000000000000001',
      createdAt: String(grant.stateCreatedAt),
    });
  });

  it('is a state with a life for locks of LockService', async () => {
    await granted(store, acquireRequest('a#1', { name: 'lock/nightly-import', stateLifeMs: 60_000 }));
    const ttl = await fixture.raw.pttl('{myapp:lock/nightly-import:lock}:state');
    expect(ttl).toBeGreaterThan(30_000);
    expect(ttl).toBeLessThanOrEqual(60_000);
  });

  it('is a claim with its claimer, and the update of the leader', async () => {
    const { token, storeTime } = await granted(store, acquireRequest('a#1'));
    const update = { handled: storeTime + 10, runEndedAt: storeTime - 40.4, schedule: 'cron 0 3 * * * UTC' };
    await store.claim({ ...renewal, token, scheduledAt: storeTime + 20, update });
    expect(await fixture.raw.hgetall(STATE)).toMatchObject({
      claimed: String(storeTime + 20),
      claimedBy: `a#1 ${String(token)}`,
      handled: String(storeTime + 10),
      runEndedAt: String(storeTime - 40),
      schedule: 'cron 0 3 * * * UTC',
    });
  });

  it('is a pause as a field of the state, which is deleted when the pause ends', async () => {
    const { pausedAt } = await store.setPaused({ name: 'price-tick', isPaused: true });
    expect(await fixture.raw.hgetall(STATE)).toEqual({ paused: String(pausedAt) });
    expect(await fixture.raw.pttl(STATE)).toBe(-1);
    expect(await fixture.raw.hgetall(SERVER)).toEqual({ pauses: String(pausedAt) });
    await store.setPaused({ name: 'price-tick', isPaused: true });
    expect(await fixture.raw.hgetall(SERVER)).toEqual({ pauses: String(pausedAt) });
    await store.setPaused({ name: 'price-tick', isPaused: false });
    expect(await fixture.raw.keys('*')).toEqual([SERVER]);
  });

  it('is only the state of a lock that was released', async () => {
    await granted(store, acquireRequest('a#1'));
    await store.release(release);
    expect(await fixture.raw.keys('*')).toEqual([STATE]);
  });

  it('is nothing of a lock of LockService whose state expired before its release', async () => {
    await granted(store, acquireRequest('a#1', { stateLifeMs: 60_000 }));
    await fixture.raw.del(STATE);
    await store.release(release);
    expect(await fixture.raw.keys('*')).toEqual([]);
  });

  it('is one connection for commands and one for the subscription', async () => {
    const requests = Array.from({ length: 50 }, (_, n) => acquireRequest('a#1', { name: `job-${String(n)}` }));
    await Promise.all(requests.map((request) => store.acquire(request)));
    const roles = (await fixture.connections()).map(({ isSubscriber }) => isSubscriber);
    expect(roles.sort()).toEqual([false, true]);
  });

  it('is one connection of a store that does not subscribe', async () => {
    const before = (await fixture.connections()).length;
    const { store: other, events } = fixture.begin({ subscribes: false });
    await eventually('it is connected', () => events.at(0));
    const { sessions } = await heartbeat(other, [sessionOfReplica('a')]);
    const added = (await fixture.connections()).slice(before);
    expect([sessions, added.length, other.isSubscribed]).toMatchObject([[{ status: 'extended' }], 1, false]);
    await other.close();
  });

  describe('as a message', () => {
    it('has its version, its kind, its database and its content', async () => {
      const listener = fixture.raw.duplicate();
      const messages: string[] = [];
      listener.on('message', (channel, text) => messages.push(`${channel} ${text}`));
      await listener.subscribe('myapp:events');
      await granted(store, acquireRequest('a#1'));
      await store.release(release);
      await store.publish({ kind: 'granted', locks: [{ name: 'price-tick', holder: 'b.1@800#2', token: 8 }] });
      await store.publish({ kind: 'request', id: 'a#1', action: 'trigger', name: 'price-tick', expiresAt: 9 });
      const run = { fencingToken: 8, startedAt: 9 };
      await store.publish({ kind: 'reply', id: 'a#1', replicaId: 'b', outcome: 'done', run });
      await store.publish({ kind: 'offer', id: 'a#2', replicaId: 'a', leading: 9, names: ['price-tick'] });
      await store.publish({ kind: 'bid', id: 'a#2', replicaId: 'b', leading: 0, names: ['price-tick'] });
      await store.publish({ kind: 'hand-over', replicaId: 'b', terms: [{ name: 'price-tick', token: 8 }] });
      await eventually('all messages arrive', () => messages.at(6));
      expect(messages).toEqual([
        'myapp:events {"version":1,"database":0,"kind":"released","locks":[["price-tick","a#1",7]]}',
        'myapp:events {"version":1,"database":0,"kind":"granted","locks":[["price-tick","b.1@800#2",8]]}',
        'myapp:events {"version":1,"database":0,"kind":"request","id":"a#1","action":"trigger","name":"price-tick","expiresAt":9}',
        'myapp:events {"version":1,"database":0,"kind":"reply","id":"a#1","replicaId":"b","outcome":"done","run":{"fencingToken":8,"startedAt":9}}',
        'myapp:events {"version":1,"database":0,"kind":"offer","id":"a#2","replicaId":"a","leading":9,"names":["price-tick"]}',
        'myapp:events {"version":1,"database":0,"kind":"bid","id":"a#2","replicaId":"b","leading":0,"names":["price-tick"]}',
        'myapp:events {"version":1,"database":0,"kind":"hand-over","replicaId":"b","terms":[{"name":"price-tick","token":8}]}',
      ]);
      listener.disconnect();
    });

    it('is ignored if it is from another database or another program', async () => {
      const messages: unknown[] = [];
      const stop = store.addListener({ message: (message) => messages.push(message) });
      const ignored = [
        ...['', 'null', '{', '[]', '7', '{"by":"a","names":["x"],"receivers":1}'],
        '{"version":1,"database":1,"kind":"granted","locks":[["x","a#1",1]]}',
        '{"version":2,"database":0,"kind":"granted","locks":[["x","a#1",1]]}',
        '{"version":1,"database":0,"kind":"paused","locks":[["x","a#1",1]]}',
        '{"version":1,"database":0,"kind":"granted","locks":"x"}',
        '{"version":2,"database":0,"kind":"request","id":"a#1","action":"trigger","name":"x","expiresAt":1}',
        '{"version":1,"database":0,"kind":"request","id":"a#1","action":"explode","name":"x","expiresAt":1}',
        '{"version":1,"database":0,"kind":"request","id":"a#1","action":"trigger","name":7,"expiresAt":1}',
        '{"version":1,"database":0,"kind":"request","id":"a#1","action":"trigger","name":"x","expiresAt":"1"}',
        '{"version":1,"database":0,"kind":"reply","id":"a#1","replicaId":"b","outcome":"odd","run":null}',
        '{"version":1,"database":0,"kind":"reply","id":"a#1","outcome":"done","run":null}',
        '{"version":1,"database":0,"kind":"offer","id":"a#1","replicaId":"a","leading":"9","names":["x"]}',
        '{"version":1,"database":0,"kind":"bid","id":"a#1","replicaId":"b","leading":0,"names":[7]}',
        '{"version":1,"database":0,"kind":"hand-over","replicaId":"b","terms":[{"name":"x","token":"8"}]}',
        '{"version":1,"database":0,"kind":"hand-over","terms":[{"name":"x","token":8}]}',
        '{"version":1,"database":0,"kind":"granted","locks":[["x","a#1","1"]]}',
        '{"version":1,"database":0,"kind":"granted","locks":[["x","a#1",1],null]}',
      ];
      for (const text of ignored) await fixture.raw.publish('myapp:events', text);
      const good = '{"version":1,"database":0,"kind":"granted","locks":[["x","a#1",1,"more"]],"more":true}';
      await fixture.raw.publish('myapp:events', good);
      await eventually('the last message arrives', () => messages.at(0));
      expect(messages).toEqual([{ kind: 'granted', locks: [{ name: 'x', holder: 'a#1', token: 1 }] }]);
      stop();
    });

    it('of one database does not reach a store of another', async () => {
      const { store: elsewhere } = await fixture.connect({ connection: `${fixture.server.url}/3` });
      const [here, there]: [unknown[], unknown[]] = [[], []];
      store.addListener({ message: (message) => here.push(message) });
      elsewhere.addListener({ message: (message) => there.push(message) });
      await elsewhere.publish({ kind: 'granted', locks: [] });
      await store.publish({ kind: 'released', locks: [] });
      await eventually('each gets its own', () => (here.length > 0 && there.length > 0) || undefined);
      expect([here, there]).toEqual([[{ kind: 'released', locks: [] }], [{ kind: 'granted', locks: [] }]]);
      await elsewhere.close();
    });
  });

  it('is the hash of a script, and the whole script only when Redis forgot it', async () => {
    await granted(store, acquireRequest('a#1'));
    await fixture.raw.script('FLUSH');
    await fixture.raw.config('RESETSTAT');
    await granted(store, acquireRequest('a#1'));
    await granted(store, acquireRequest('a#1'));
    const stats = await fixture.raw.info('commandstats');
    expect(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1]).toBe('1');
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('2');
  });

  it('is a heartbeat that costs the same with 3 and with 300 sessions', async () => {
    const own = sessionOfReplica('host-0');
    /** The cheapest of ten times twenty heartbeats: others use this machine too. */
    const microseconds = async (replicas: number): Promise<number> => {
      const all = Array.from({ length: replicas }, (_, n) => sessionOfReplica(`host-${String(n)}`));
      await Promise.all(all.map((session) => kept(store, session)));
      const known = await heartbeat(store, [own]);
      let cheapest = Infinity;
      for (let batch = 0; batch < 10; batch++) {
        await fixture.raw.config('RESETSTAT');
        for (let n = 0; n < 20; n++) await heartbeat(store, [own], known);
        const stats = await fixture.raw.info('commandstats');
        cheapest = Math.min(cheapest, Number(/cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(stats)?.[1]));
      }
      return cheapest;
    };
    const few = await microseconds(3);
    expect(await microseconds(300)).toBeLessThan(3 * few);
  });

  describe('when another program changes the keys', () => {
    it('a state of another type is reported before the lock is taken', async () => {
      await fixture.raw.set(STATE, 'not a hash');
      await expect(store.acquire(acquireRequest('a#1'))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
      expect(await fixture.raw.exists(LOCK)).toBe(0);
    });

    it('a lock of another type is reported, with its key', async () => {
      await fixture.raw.lpush(LOCK, 'not a string');
      const error = { code: 'STORE_MISCONFIGURED', message: expect.stringContaining(`for '${LOCK}'`) };
      await expect(store.acquire(acquireRequest('a#1'))).rejects.toMatchObject(error);
      await expect(store.renew(renewal)).rejects.toMatchObject(error);
    });

    it('a list of sessions of another type is reported', async () => {
      await fixture.raw.set(SESSIONS, 'not a sorted set');
      await expect(heartbeat(store, [])).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    });

    it('fields that are no numbers count as missing', async () => {
      await fixture.raw.hset(
        STATE,
        'token',
        'x',
        'createdAt',
        '',
        'claimed',
        'never',
        'handled',
        '-',
        'runEndedAt',
        '?',
        'paused',
        'x',
      );
      const grant = await granted(store, acquireRequest('a#1'));
      expect(grant).toMatchObject({ claimed: undefined, handled: undefined, runEndedAt: undefined });
      expect(grant.stateCreatedAt).toBe(grant.storeTime);
      expect(grant.token).toBeGreaterThanOrEqual(grant.storeTime);
      await store.renew({ ...renewal, update: { claimed: 3, handled: 2, runEndedAt: 1 } });
      expect(await fixture.raw.hmget(STATE, 'claimed', 'handled', 'runEndedAt')).toEqual(['3', '2', '1']);
    });

    it('numbers that are too large reject', async () => {
      await fixture.raw.hset(STATE, 'token', '1e300');
      await expect(store.acquire(acquireRequest('a#1'))).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    });
  });

  describe('when its memory is full and it evicts nothing', () => {
    afterEach(async () => {
      await fixture.raw.config('SET', 'maxmemory', '0');
    });

    const fill = async (): Promise<void> => {
      await fixture.raw.config('SET', 'maxmemory-policy', 'noeviction');
      await fixture.raw.config('SET', 'maxmemory', '1');
      await expect(fixture.raw.set('any', 'thing')).rejects.toThrow('OOM');
    };

    it('a heartbeat extends, lists and ends sessions', async () => {
      const [known, fresh] = [sessionOfReplica('a'), sessionOfReplica('b')];
      await kept(store, known);
      await fill();
      const { sessions, storeTime } = await heartbeat(store, [known, fresh]);
      expect(sessions).toEqual([
        { status: 'extended', end: storeTime + LONG_MS },
        { status: 'extended', end: storeTime + LONG_MS },
      ]);
      await store.endSession(known);
      expect(await kept(store, known)).toMatchObject({ status: 'ended' });
    });

    it('a heartbeat notices a restart', async () => {
      await fill();
      const { serverId, serverSince, storeTime } = await heartbeat(store, [sessionOfReplica('a')]);
      expect(serverId).toBeDefined();
      expect(serverSince).toBe(storeTime);
    });

    it('leaders renew, claim and release, and record their updates', async () => {
      const { token, storeTime: at } = await granted(store, acquireRequest('a#1'));
      await fill();
      const update = { handled: at + 10, runEndedAt: at - 95, schedule: 'x' };
      expect(await store.renew({ ...renewal, update })).toMatchObject({ held: true });
      const claim = { ...renewal, token, scheduledAt: at + 20, update: { handled: at + 15 } };
      expect(await store.claim(claim)).toMatchObject({ outcome: 'claimed' });
      const last = { ...release, update: { handled: at + 20, claimed: at + 30 } };
      expect(await store.release(last)).toMatchObject({ released: true });
      expect(await fixture.raw.exists(LOCK)).toBe(0);
      expect(await fixture.raw.hmget(STATE, 'handled', 'claimed')).toEqual([String(at + 20), String(at + 30)]);
    });

    it('locks go from leader to leader', async () => {
      const first = await granted(store, acquireRequest('a.1@800#1'));
      await fill();
      expect(await store.setPaused({ name: 'price-tick', isPaused: true })).toMatchObject({ holder: 'a.1@800#1' });
      await store.setPaused({ name: 'price-tick', isPaused: false });
      expect(await refused(store, acquireRequest('b.1@800#1'))).toMatchObject({ holder: 'a.1@800#1' });
      const second = await granted(store, acquireRequest('b.1@800#2', { endedSession: 'a.1@800' }));
      expect(second.token).toBeGreaterThan(first.token);
      await store.release({ ...release, holder: 'b.1@800#2' });
      await granted(store, acquireRequest('c.1@800#1'));
      await granted(store, acquireRequest('c.1@800#2', { name: 'a-new-job' }));
    });
  });

  describe('for all requests of one turn of the event loop', () => {
    it.each([1, 20, 500])('is one write for %i renewals', async (count) => {
      const names = Array.from({ length: count }, (_, n) => `job-${String(n)}`);
      await Promise.all(names.map((name) => store.acquire(acquireRequest('a#1', { name }))));
      const { writes, results } = await countWrites(() => names.map((name) => store.renew({ ...renewal, name })));
      expect(writes).toBe(1);
      expect(results).toEqual(names.map(() => expect.objectContaining({ held: true })));
    });

    it('is one write for different requests too, and one for each turn', async () => {
      await granted(store, acquireRequest('a#1'));
      const first = await countWrites<unknown>(() => [
        heartbeat(store, []),
        store.renew(renewal),
        store.publish({ kind: 'granted', locks: [] }),
      ]);
      expect(first.writes).toBe(1);
      const second = await countWrites(() => [
        store.renew(renewal),
        new Promise((resolve) => setImmediate(resolve)).then(() => store.renew(renewal)),
      ]);
      expect(second.writes).toBe(2);
    });
  });
});

/** How often the busiest socket was given something to write until all answers had come. Another one may send a ping meanwhile. */
async function countWrites<T>(send: () => readonly Promise<T>[]): Promise<{ writes: number; results: T[] }> {
  const prototype = Socket.prototype as unknown as Record<'_write' | '_writev', (...args: unknown[]) => unknown>;
  const originals = { _write: prototype._write, _writev: prototype._writev };
  const writes = new Map<unknown, number>();
  for (const method of ['_write', '_writev'] as const) {
    prototype[method] = function (this: unknown, ...args) {
      writes.set(this, (writes.get(this) ?? 0) + 1);
      return originals[method].apply(this, args);
    };
  }
  try {
    const results = await Promise.all(send());
    return { writes: Math.max(...writes.values()), results };
  } finally {
    Object.assign(prototype, originals);
  }
}
