import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Socket } from 'node:net';
import { type RedisLockStore } from '../../libs/singleton-job/src/store/index.js';
import { bidOf, eventually, granted, LONG_MS, refused } from './lock-store-world.js';
import { RedisFixture } from './redis-fixture.js';

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

  const held = { name: 'price-tick', holder: 'a#1', lockExpiryMs: LONG_MS };

  it('is a lock under the key of the original, whose value is the holder and whose life is the expiry', async () => {
    await granted(store, bidOf('node-a7#3', { lockExpiryMs: 60_000 }));
    expect(await fixture.raw.get(LOCK)).toBe('node-a7#3');
    const ttl = await fixture.raw.pttl(LOCK);
    expect(ttl).toBeGreaterThan(30_000);
    expect(ttl).toBeLessThanOrEqual(60_000);
  });

  it('is a state beside it that lives for ever, in plain numbers', async () => {
    const { token, born, last } = await granted(store, bidOf('a#1', { seenToken: 2_000_000_000_000_000 }));
    expect(await fixture.raw.keys('*')).toEqual(expect.arrayContaining([LOCK, STATE]));
    expect(await fixture.raw.pttl(STATE)).toBe(-1);
    expect(token).toBe(2_000_000_000_000_001);
    expect(await fixture.raw.hgetall(STATE)).toEqual({
      token: '2000000000000001',
      born: String(born),
      last: String(last),
      ran: String(last),
      schedule: 'every second',
    });
  });

  it('is a state that ends where a bid says so, as those of locks that are no job’s do', async () => {
    const bid = bidOf('a#1', { name: 'lock/nightly-import', stateTtlMs: 60_000 });
    await granted(store, bid);
    const ttl = await fixture.raw.pttl('{myapp:lock/nightly-import:lock}:state');
    expect(ttl).toBeGreaterThan(30_000);
    expect(ttl).toBeLessThanOrEqual(60_000);
  });

  it('is, where a claim had to begin it anew, one whose run nobody has confirmed', async () => {
    const { token, time } = await granted(store, bidOf('a#1'));
    await fixture.raw.del(STATE);
    await store.claim({ ...held, token, scheduledAt: time + 20, progress: {} });
    await fixture.raw.del(LOCK);
    const next = await granted(store, bidOf('b#1'));
    expect(next).toMatchObject({ by: `a#1 ${String(token)}` });
    expect(next.ran).toBeLessThan(next.last);
  });

  it('names whoever claimed before a schedule changed, whatever the name of its node', async () => {
    const holder = 'a|b#1';
    const { token, time } = await granted(store, bidOf(holder));
    await store.claim({ ...held, holder, token, scheduledAt: time + 50_000, progress: {} });
    await fixture.raw.del(LOCK);
    const { raisedFrom } = await granted(store, bidOf('b#1', { schedule: 'every minute' }));
    expect(raisedFrom?.by).toBe(`${holder} ${String(token)}`);
  });

  it('is a claim with its claimer, and the progress of the leader', async () => {
    const { token, time } = await granted(store, bidOf('a#1'));
    const progress = { ran: time + 10, endAgeMs: 40 };
    const { time: claimedAt } = await store.claim({ ...held, token, scheduledAt: time + 20, progress });
    expect(await fixture.raw.hgetall(STATE)).toMatchObject({
      last: String(time + 20),
      by: `a#1 ${String(token)}`,
      ran: String(time + 10),
      end: String(claimedAt - 40),
    });
  });

  it('is nothing of a lock that was released but its state', async () => {
    await granted(store, bidOf('a#1'));
    await store.release({ ...held, progress: {}, quietly: true });
    expect(await fixture.raw.keys('*')).toEqual([STATE]);
  });

  it('is one connection for commands and one for the subscription', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => store.acquire(bidOf('a#1', { name: `job-${String(n)}` }))));
    const roles = (await fixture.connections()).map(({ isSubscriber }) => isSubscriber);
    expect(roles.sort()).toEqual([false, true]);
  });

  it('is a message on one channel, that names the releaser and the jobs', async () => {
    const listener = fixture.raw.duplicate();
    const heard: string[] = [];
    listener.on('message', (channel, text) => heard.push(`${channel} ${text}`));
    await listener.subscribe('myapp:released');
    await granted(store, bidOf('a#1'));
    await store.release({ ...held, progress: {}, quietly: false });
    const message = await eventually('the message arrives', () => heard.at(0));
    expect(message).toBe('myapp:released {"by":"a","names":["price-tick"],"receivers":0}');
    listener.disconnect();
  });

  it('may say anything on the channel: what is no release message is ignored', async () => {
    const heard: unknown[] = [];
    const stop = store.listen({ released: (message) => heard.push(message) });
    const nonsense = ['', 'null', '{', '[]', '{"by":1,"names":[]}', '{"by":"a","names":"b"}', '{"by":"a","names":[1]}'];
    for (const text of nonsense) await fixture.raw.publish('myapp:released', text);
    await fixture.raw.publish('myapp:released', '{"by":"a","names":["x"],"receivers":"many","more":true}');
    await eventually('the last message arrives', () => heard.at(0));
    expect(heard).toEqual([{ by: 'a', names: ['x'], receivers: 0 }]);
    stop();
  });

  it('is the script by its hash, and the whole of it only when Redis forgot it', async () => {
    await granted(store, bidOf('a#1'));
    await fixture.raw.script('FLUSH');
    await fixture.raw.config('RESETSTAT');
    await granted(store, bidOf('a#1'));
    await granted(store, bidOf('a#1'));
    const stats = await fixture.raw.info('commandstats');
    expect(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1]).toBe('1');
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('2');
  });

  describe('when it changes what we left', () => {
    it('a state of another type is said to be wrong before the lock is taken', async () => {
      await fixture.raw.set(STATE, 'not a hash');
      await expect(store.acquire(bidOf('a#1'))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
      expect(await fixture.raw.exists(LOCK)).toBe(0);
    });

    it('a lock of another type is said to be wrong', async () => {
      await fixture.raw.lpush(LOCK, 'not a string');
      await expect(store.acquire(bidOf('a#1'))).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
      await expect(store.renew({ ...held, progress: {} })).rejects.toMatchObject({ code: 'STORE_MISCONFIGURED' });
    });

    it('fields that are no numbers count as missing', async () => {
      await fixture.raw.hset(STATE, 'token', 'x', 'born', '', 'last', 'never', 'ran', '-', 'end', '?');
      const grant = await granted(store, bidOf('a#1'));
      expect(grant).toMatchObject({ last: grant.time, ran: grant.time, born: grant.time, endAgeMs: undefined });
      expect(grant.token).toBeGreaterThanOrEqual(grant.time);
    });

    it('fields that are beyond all numbers reject, and crash nothing', async () => {
      await fixture.raw.hset(STATE, 'token', '1e300');
      await expect(store.acquire(bidOf('a#1'))).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    });
  });

  describe('a server that is full and evicts nothing', () => {
    afterEach(async () => {
      await fixture.raw.config('SET', 'maxmemory', '0');
    });

    const fill = async (): Promise<void> => {
      await fixture.raw.config('SET', 'maxmemory-policy', 'noeviction');
      await fixture.raw.config('SET', 'maxmemory', '1');
      await expect(fixture.raw.set('any', 'thing')).rejects.toThrow('OOM');
    };

    it('lets leaders renew, claim and release, with all they have to tell', async () => {
      const { token, time } = await granted(store, bidOf('a#1'));
      await fill();
      expect(await store.renew({ ...held, progress: { ran: time + 10, endAgeMs: 5 } })).toMatchObject({ held: true });
      const claim = { ...held, token, scheduledAt: time + 20, progress: { ran: time + 15 } };
      expect(await store.claim(claim)).toMatchObject({ outcome: 'claimed' });
      expect(
        await store.release({ ...held, progress: { ran: time + 20, last: time + 30 }, quietly: false }),
      ).toMatchObject({
        released: true,
      });
      expect(await fixture.raw.exists(LOCK)).toBe(0);
      expect(await fixture.raw.hmget(STATE, 'ran', 'last')).toEqual([String(time + 20), String(time + 30)]);
    });

    it('still says who holds a lock, and lets a bid be repeated', async () => {
      const grant = await granted(store, bidOf('a#1'));
      await fill();
      expect(await refused(store, bidOf('b#1'))).toMatchObject({ holder: 'a#1', token: grant.token });
      expect(await granted(store, bidOf('a#1'))).toMatchObject({ token: grant.token });
    });

    it('lets a bid that is refused tell of a claim that was lost', async () => {
      const { time } = await granted(store, bidOf('a#1'));
      await fill();
      const seen = { seenLast: time + 20, seenRan: time + 10 };
      const known = { last: time + 20, ran: time + 10 };
      expect(await refused(store, bidOf('b#1', seen))).toMatchObject({ holder: 'a#1', ...known });
      expect(await refused(store, bidOf('b#2'))).toMatchObject(known);
    });

    it('grants no free lock, and nothing of the bid remains', async () => {
      await fill();
      await expect(store.acquire(bidOf('a#1'))).rejects.toMatchObject({ code: 'STORE_REFUSED_WRITE' });
      expect(await fixture.raw.keys('*')).toEqual([]);
    });
  });

  describe('a batch', () => {
    it.each([1, 20, 500])('of %i renewals leaves in one write', async (count) => {
      const names = Array.from({ length: count }, (_, n) => `job-${String(n)}`);
      await Promise.all(names.map((name) => store.acquire(bidOf('a#1', { name }))));
      const answers: Promise<unknown>[] = [];
      const writes = countWrites(() => {
        store.batch(() => {
          for (const name of names) answers.push(store.renew({ ...held, name, progress: {} }));
        });
      });
      expect(writes).toBe(1);
      expect(await Promise.all(answers)).toEqual(names.map(() => expect.objectContaining({ held: true })));
    });

    it('that throws halfway still sends what was asked, and holds nothing back afterwards', async () => {
      let answer: Promise<unknown> | undefined;
      expect(() => {
        store.batch(() => {
          answer = store.acquire(bidOf('a#1'));
          throw new Error('halfway');
        });
      }).toThrow('halfway');
      expect(await answer).toMatchObject({ granted: true });
      expect(await store.renew({ ...held, progress: {} })).toMatchObject({ held: true });
    });
  });
});

/** How often sockets were handed something to write while `send` ran. */
function countWrites(send: () => void): number {
  const prototype = Socket.prototype as unknown as Record<'_write' | '_writev', (...args: unknown[]) => unknown>;
  const originals = { _write: prototype._write, _writev: prototype._writev };
  let writes = 0;
  for (const method of ['_write', '_writev'] as const) {
    prototype[method] = function (this: unknown, ...args) {
      writes++;
      return originals[method].apply(this, args);
    };
  }
  try {
    send();
  } finally {
    Object.assign(prototype, originals);
  }
  return writes;
}
