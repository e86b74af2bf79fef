import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  A,
  B,
  until,
  LONG_MS,
  NAME,
  type SuiteClient,
} from '../../libs/singleton-job/src/testing/store-suite/suite-client.js';
import { monitored } from '../../tools/servers/monitor.js';
import { oneForAll } from '../support/use-redis.js';
import { RedisFixture } from './redis-fixture.js';
import { saying } from './reporting-store.js';

const LEASES = '{myapp}:leases';
const RECORD = `{myapp}:${NAME}`;

const fixture = oneForAll(() => RedisFixture.start());
let a: SuiteClient;

beforeAll(async () => {
  a = (await fixture().connect()).replica;
});

beforeEach(async () => {
  await fixture().raw.flushall();
});

/** The commands of the store, without those of its scripts. */
async function commandsOf(during: () => Promise<unknown>): Promise<string[]> {
  const commands: string[] = [];
  const note = (line: string): unknown => commands.push(/ \[\d+ [\d.:]+\] "(\w+)"/.exec(line)?.[1] ?? 'of a script');
  await monitored(fixture().server.url, note, async () => {
    await during();
    await fixture().raw.time();
    await until('the end is seen', () => commands.includes('time') || undefined);
  });
  return commands.filter((command) => !['of a script', 'ping', 'time'].includes(command));
}

describe('what Redis sees', () => {
  it('is a sorted set: the leases with their ends, and the incarnation', async () => {
    const { time, incarnation } = await a.sync({ isNewcomer: true, grant: [A, B] });
    const end = String(time + LONG_MS);
    const [server, since] = incarnation.id.split('/');
    expect(await fixture().raw.zrangebyscore(LEASES, '-inf', '+inf', 'WITHSCORES')).toEqual([
      `${String(server)}/${String(since)}`,
      '-1',
      A,
      end,
      B,
      end,
    ]);
    const info = `${await fixture().raw.info('server')} ${await fixture().raw.info('replication')}`;
    const ids = ['run_id', 'master_replid'].map((field) => new RegExp(`${field}:(\\w+)`).exec(info)?.[1]);
    expect(server).toBe(ids.join('-'));
    expect([since, await fixture().raw.keys('*')]).toEqual([String(time), [LEASES]]);
  });

  it('is an incarnation with the score 0 if a replica noted it that had met another', async () => {
    const { incarnation } = await a.sync({ grant: [A] });
    expect(await fixture().raw.zscore(LEASES, incarnation.id)).toBe('0');
  });

  it('is another incarnation when the server was a copy of another one for a moment', async () => {
    const { incarnation } = await a.sync({ isNewcomer: true, grant: [A] });
    const record = await a.put();
    await fixture().raw.replicaof('127.0.0.1', 1);
    await fixture().raw.replicaof('NO', 'ONE');
    expect(await a.write('{}', record)).toBeUndefined();
    const after = await a.sync({ grant: [A], read: [NAME] });
    expect([after.incarnation.id === incarnation.id, after.records]).toEqual([false, [record]]);
  });

  it('is a string for each record, with its revision before its value', async () => {
    await a.sync({ grant: [A] });
    const { revision } = await a.put('{"holder":"a.1@600000#1"}');
    expect(await fixture().raw.get(RECORD)).toBe(`${String(revision)} {"holder":"a.1@600000#1"}`);
    expect(await fixture().raw.pttl(RECORD)).toBe(-1);
    await a.put('{}', { revision }, { forgetAfterMs: 60_000 });
    expect(await fixture().raw.pttl(RECORD)).toBeGreaterThan(30_000);
  });

  it('is a revision in plain digits, also if the clock was set back', async () => {
    await a.sync({ grant: [A] });
    await fixture().raw.set(RECORD, '99999999999999 {}');
    expect(await a.put('{}', { revision: 99_999_999_999_999 })).toEqual({
      revision: 100_000_000_000_000,
      value: '{}',
    });
    expect(await fixture().raw.get(RECORD)).toBe('100000000000000 {}');
  });

  it('is a lease with no more than its TTL when the clock was set back', async () => {
    const { time } = await a.sync({ grant: [A] });
    await fixture().raw.zadd(LEASES, time + LONG_MS + 3_600_000, A);
    const { time: now, leases } = await a.sync();
    expect(leases).toEqual(new Map([[A, LONG_MS]]));
    expect(await fixture().raw.zscore(LEASES, A)).toBe(String(now + LONG_MS));
  });

  it('may be a foreign member among the leases, which breaks nothing', async () => {
    await fixture().raw.zadd(LEASES, 5_000_000_000_000, 'not a lease');
    const { leases } = await a.sync({ grant: [A] });
    expect(leases.get(A)).toBe(LONG_MS);
    await a.put();
  });

  it('is one connection for requests, and one for hints where the store subscribes', async () => {
    await Promise.all(Array.from({ length: 50 }, () => a.sync()));
    const { store, replica, events } = fixture().begin({ subscribes: false });
    await until('it is connected', () => events.at(0));
    await replica.sync({ grant: [A] });
    const roles = (await fixture().connections()).map(({ isSubscriber }) => isSubscriber);
    expect(roles.sort()).toEqual([false, false, true]);
    await store.close();
  });

  it('is a hint with a name in each line, or a star', async () => {
    const listener = fixture().raw.duplicate();
    const messages: string[] = [];
    listener.on('message', (channel, text) => messages.push(`${channel} ${text}`));
    await listener.subscribe('{myapp}:hints');
    const names = (count: number) => Array.from({ length: count }, (_, i) => `${String(i)}:job`);
    await a.store.publish?.(names(2));
    await a.store.publish?.(names(100));
    await a.store.publish?.(names(1_000));
    await a.store.publish?.('*');
    await until('all messages arrive', () => messages.at(3));
    expect(messages).toEqual(['0:job\n1:job', names(100).join('\n'), '*', '*'].map((text) => `{myapp}:hints ${text}`));
    listener.disconnect();
  });

  it.each<[string, number, readonly string[]]>([
    ['one command for a heartbeat that reads nothing', 0, ['eval']],
    ['two for a heartbeat, however many records it reads', 400, ['mget', 'eval']],
  ])('is %s', async (_what, count, commands) => {
    await a.sync({ grant: [A] });
    const names = Array.from({ length: count }, (_, i) => `${String(i)}:job`);
    expect(await commandsOf(() => a.writeAll(names.map((name) => ({ name }))))).toEqual(['eval']);
    expect(await commandsOf(() => a.sync({ renew: [A], grant: [B], read: names }))).toEqual(commands);
  });

  it('is one more command for a record that is absent, to see whether it is', async () => {
    await a.sync({ grant: [A] });
    expect(await commandsOf(() => a.read(NAME))).toEqual(['mget', 'eval', 'get']);
  });
});

describe('a key that another program uses', () => {
  it('as a record of another form is unreadable, and is not overwritten', async () => {
    await a.sync({ grant: [A] });
    for (const text of ['', 'hello', '{"holder":"x"}', '12', '-1 {}', '1e300 {}', '99999999999999999999 {}']) {
      await fixture().raw.set(RECORD, text);
      expect([text, await a.read(NAME)]).toEqual([text, ['unreadable']]);
      for (const revision of [0, 12]) expect(await a.write('{}', { revision })).toBeUndefined();
      expect(await fixture().raw.get(RECORD)).toBe(text);
    }
  });

  it('for the leases is reported with its name', async () => {
    await fixture().raw.set(LEASES, 'of another program');
    const error = saying('STORE_MISCONFIGURED', `the key '${LEASES}'`);
    await expect(a.sync()).rejects.toMatchObject(error);
    await expect(a.store.compareAndSet({ incarnation: '', until: 0, writes: [] })).rejects.toMatchObject(error);
  });
});

describe('a Redis that is full and evicts nothing', () => {
  beforeEach(async () => {
    await a.sync({ isNewcomer: true, grant: [A] });
    await fixture().raw.config('SET', 'maxmemory-policy', 'noeviction');
    await fixture().raw.config('SET', 'maxmemory', '1');
    await expect(fixture().raw.set('any', 'thing')).rejects.toThrow('OOM');
  });

  afterEach(async () => {
    await fixture().raw.config('SET', 'maxmemory', '0');
  });

  it('keeps leases, makes new ones, and writes old and new records', async () => {
    expect(await a.leases({ renew: [A], grant: [B] })).toEqual([A, B]);
    const record = await a.put('{}', await a.put('{"a":1}'));
    expect(await a.read(NAME, 'absent:job')).toEqual([record, undefined]);
    await a.store.publish?.('*');
  });

  it('notes a new incarnation', async () => {
    await fixture().raw.zrem(LEASES, (await a.sync()).incarnation.id);
    const { time, incarnation } = await a.sync({ renew: [A] });
    expect(incarnation).toMatchObject({ since: time, isFirst: false });
  });
});

describe('a server that refuses writes', () => {
  const requests: [string, () => Promise<unknown>][] = [
    ['a sync that keeps nothing', () => a.sync()],
    ['a sync that reads', () => a.sync({ read: [NAME] })],
    ['a sync that keeps a lease', () => a.sync({ renew: [A] })],
    ['a write that would change nothing', () => a.store.compareAndSet({ incarnation: '', until: 0, writes: [] })],
  ];

  it.each(requests)('because it has too few replicas, refuses %s', async (_, send) => {
    await fixture().raw.config('SET', 'min-replicas-to-write', '1');
    await expect(send()).rejects.toMatchObject({ code: 'STORE_REFUSED_WRITE' });
    await fixture().raw.config('SET', 'min-replicas-to-write', '0');
    await send();
  });

  it.each(requests)('because it is a copy, refuses %s, and the client connects anew', async (_, send) => {
    const before = new Set((await fixture().connections()).map(({ id }) => id));
    await fixture().raw.replicaof('127.0.0.1', 1);
    await expect(send()).rejects.toMatchObject(saying('STORE_UNREACHABLE', 'READONLY'));
    await fixture().raw.replicaof('NO', 'ONE');
    await until('it answers', () => send().then(() => true));
    // also for hints: a name may lead to another server now
    const areNew = async () => (await fixture().connections()).every(({ id }) => !before.has(id)) || undefined;
    await until('both connections are new', areNew);
    await a.hint('*', [a]);
  });
});

describe('a user who may not see the server', () => {
  it('notes an empty server, keeps what others noted, and writes', async () => {
    await fixture().raw.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-info');
    const client = new Redis(fixture().server.url.replace('//', '//blind:secret@'), {
      lazyConnect: true,
      enableReadyCheck: false,
    });
    const { replica: blind, warnings } = await fixture().connect({ connection: client });
    const { time, incarnation } = await blind.sync({ isNewcomer: true, grant: [B] });
    expect(incarnation).toEqual({ id: `/${String(time)}`, since: time, isFirst: true });
    const record = await blind.put();
    // who sees the server notes it
    expect(await a.write('{}', record, { incarnation: incarnation.id })).toBeUndefined();
    const { incarnation: seen } = await a.sync({ grant: [A] });
    expect(seen).toMatchObject({ id: expect.stringMatching(/^[\w-]+\//), isFirst: false });
    // and who does not leaves it alone
    expect((await blind.sync({ renew: [B] })).incarnation).toEqual(seen);
    await blind.put('{}', record);
    await fixture().raw.zrem(LEASES, seen.id);
    await fixture().raw.zadd(LEASES, 0, `anotherserver/${String(time)}`);
    expect((await blind.sync({ renew: [B] })).incarnation.id).toBe(`anotherserver/${String(time)}`);
    expect(warnings).toMatchObject([{ code: 'RESTARTS_HIDDEN' }]);
  });
});

describe('a Redis that may evict keys', () => {
  afterEach(async () => {
    await fixture().raw.config('SET', 'maxmemory', '0');
    await fixture().raw.config('SET', 'maxmemory-policy', 'noeviction');
  });

  it.each(['volatile-lru', 'allkeys-lru'])('with the policy %s is reported once', async (policy) => {
    await fixture().raw.config('SET', 'maxmemory-policy', policy);
    const { warnings } = await fixture().connect();
    await until('the store warns', () => warnings.at(0));
    expect(warnings).toEqual([saying('EVICTION_POSSIBLE', `its maxmemory-policy is ${policy}`)]);
  });

  it('of those that expire evicts records of locks, but no record of a job and no lease', async () => {
    await a.sync({ isNewcomer: true, grant: [A] });
    const job = await a.put();
    await a.put('{}', undefined, { name: 'order-4711:lock', forgetAfterMs: 86_400_000 });
    await fixture().raw.config('SET', 'maxmemory-policy', 'volatile-ttl');
    await fixture().raw.config('SET', 'maxmemory', '1');
    await expect(fixture().raw.set('any', 'thing')).rejects.toThrow('OOM');
    expect(await a.read(NAME, 'order-4711:lock')).toEqual([job, undefined]);
    expect(await a.leases()).toEqual([A]);
  });
});
