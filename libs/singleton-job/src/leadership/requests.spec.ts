import { describe, expect, it } from '@jest/globals';
import { useCoreReplicas } from '../../../../test/support/core-replicas.js';
import { type FaultyStore, type WriteStep } from '../../../../test/support/faulty-store.js';
import { type StoreListener } from '../store/store.js';
import { jobRecord, PAUSE_OF_ALL } from './record.js';

const world = useCoreReplicas();

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `job-${String(index)}`);
}

describe('the requests of a replica', () => {
  it('are one for all takes of a turn, and one for all releases', async () => {
    const a = world.add('a', { random: 1 });
    for (const name of numbered(100)) a.compete(name);
    await world.clock.advance(0);
    expect(a.store.writes.map(({ writes }) => writes.length)).toEqual([100]);
    await a.replica.close();
    expect(a.store.writes.map(({ writes }) => writes.length)).toEqual([100, 100]);
  });

  it('are one each 10 s for what can wait', async () => {
    const a = world.add('a');
    const jobs = numbered(3).map((name) => a.compete(name));
    await world.clock.advance(1_000);
    a.store.writes = [];
    for (const { term } of jobs) term.set({ lastScheduledAt: 1 });
    await world.clock.advance(8_999);
    expect(a.store.writes).toEqual([]);
    await world.clock.advance(1);
    expect(a.store.writes.map(({ writes }) => writes.length)).toEqual([3]);
    expect(world.record('job-2')?.lastScheduledAt).toBe(1);
  });

  it.each(['job', 'lock'] as const)(
    'pause while the lease of a dead leader of a %s cannot be removed',
    async (kind) => {
      const [a, b] = [world.add('a'), world.add('b')];
      a.compete('it', kind);
      await world.clock.advance(100);
      b.compete('it', kind);
      await world.clock.advance(100);
      a.store.outcome = () => 'STORE_UNREACHABLE';
      await world.clock.advance(9_000);
      b.store.script.sync = async (carryOut) => {
        const answer = await carryOut();
        await world.clock.sleep(1);
        return { ...answer, leases: new Map([...answer.leases, ['a.1@10000', 0]]) };
      };
      b.store.syncs = [];
      await world.clock.advance(3_000);
      expect(b.store.syncs.length).toBeLessThan(8);
    },
  );

  it('note nothing in the store, and keep no lease, where a replica only reads', async () => {
    const a = world.add('a');
    const read = a.replica.read(['job:job'], 5_000);
    await world.clock.advance(10_000);
    await expect(read).resolves.toEqual(new Map([['job:job', { revision: 0, value: undefined }]]));
    const { noted, leases } = world.server.snapshot();
    expect([noted, leases]).toEqual([undefined, new Map()]);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    const unanswered = a.replica.read(['job:job'], 5_000);
    await world.clock.advance(5_000);
    await expect(unanswered).resolves.toBeUndefined();
  });

  it('do not read after an outage what no caller waits for any more', async () => {
    const a = await world.leader();
    a.store.outcome = () => 'STORE_UNREACHABLE';
    void a.replica.read(['other:job'], 1_000);
    void a.compete('lock', 'lock').election.withdraw('unregistered');
    await world.clock.advance(1_000);
    a.store.outcome = () => 'answered';
    a.store.syncs = [];
    await world.clock.advance(1_000);
    expect(a.store.syncs.map(({ read }) => read)).toEqual([[]]);
  });

  it('read again what was answered with other data', async () => {
    const a = await world.leader();
    world.server.restart();
    const read = a.replica.read(['other:job'], 1_000);
    await world.clock.advance(1_000);
    await expect(read).resolves.toHaveProperty('size', 1);
  });

  it('keep one lease for each TTL among the jobs, and follow the shortest', async () => {
    const a = await world.leader();
    a.compete('short', 'job', 800);
    await world.clock.advance(0);
    a.store.syncs = [];
    await world.clock.advance(1_000);
    expect(a.store.syncs.map(({ renew }) => renew)).toEqual(Array(5).fill(['a.1@10000', 'a.2@800']));
    expect(world.story).toEqual(['10 a gained short: first']);
  });

  it.each<[string, (listener: StoreListener) => void]>([
    ['there is a new connection', (listener) => listener.connected?.()],
    ['messages arrive again', (listener) => listener.listening?.(true)],
  ])('read all records when %s', async (_when, report) => {
    const names = numbered(9);
    const a = world.add('a');
    for (const name of names) a.compete(name);
    await world.clock.advance(1_000);
    a.store.syncs = [];
    report(a.replica);
    await world.clock.advance(0);
    expect(a.store.syncs.map(({ read }) => read)).toEqual([names.map(jobRecord)]);
  });
});

it('A read of a caller is not answered by what left before it', async () => {
  const a = await world.leader();
  const arrive = a.store.holdAnswers();
  await world.clock.advance(3_100);
  const read = a.replica.read(['job:job'], 5_000);
  world.server.loseRecord('job:job');
  arrive();
  await world.clock.advance(1_000);
  expect((await read)?.get('job:job')).toEqual({ revision: 0, value: undefined });
});

it('Each replica reads the pause of all jobs at once after a message for it', async () => {
  const replicas = ['a', 'b'].map((id) => world.add(id, { random: 0.5 }));
  for (const { compete } of replicas) compete('job');
  await world.clock.advance(1_000);
  for (const { store, replica } of replicas) {
    store.syncs = [];
    replica.hint([PAUSE_OF_ALL]);
  }
  await world.clock.advance(0);
  expect(replicas.map(({ store }) => store.syncs.length)).toEqual([1, 1]);
});

describe('a leader and a waiting caller look at once, and followers not all at once, after', () => {
  it.each([
    ['a message for the job', 3_900, ['job:job']],
    ['a message for all', 3_900, '*'],
    ['the end of the lease', 9_989, undefined],
  ] as const)('%s', async (_what, passedMs, names) => {
    const a = await world.leader({ random: 0.5 });
    const [b, c] = [world.add('b', { random: 0.5 }), world.add('c', { random: 0.5 })];
    b.compete('job', 'lock');
    c.compete('job');
    if (names === undefined) a.store.outcome = () => 'STORE_UNREACHABLE';
    await world.clock.advance(passedMs);
    for (const { store } of [a, b, c]) store.syncs = [];
    if (names !== undefined) await c.store.publish(names);
    await world.clock.advance(2.9);
    expect([a, b, c].map(({ store }) => store.syncs.length > 0)).toEqual([true, true, false]);
    await world.clock.advance(1.1);
    expect(c.store.syncs.map(({ read }) => read)).toEqual([['job:job']]);
  });
});

describe('of a store that does not keep to the contract', () => {
  const fail = (): never => {
    throw new Error('thrown');
  };

  it.each<['sync' | 'compareAndSet' | 'publish', string, () => unknown, number]>([
    ['sync', 'fails if it throws', fail, 0],
    ['sync', 'fails if its answer has a wrong form', () => ({}), 0],
    ['compareAndSet', 'fails if it throws', fail, 0],
    ['compareAndSet', 'fails if its answer has a wrong form', () => undefined, 0],
    ['publish', 'fails nothing if it throws', fail, 1],
    ['publish', 'may return no promise', () => undefined, 1],
  ])('a %s %s', async (request, _what, answer, terms) => {
    const a = world.add('a');
    const answers = a.store[request].bind(a.store);
    Object.assign(a.store, { [request]: answer });
    const job = a.compete('job');
    await world.clock.advance(1_000);
    expect(job.terms.length).toBe(terms);
    Object.assign(a.store, { [request]: answers });
    await world.clock.advance(1_000);
    expect(job.terms.length).toBe(1);
  });
});

describe('a request that does not settle', () => {
  it.each([
    ['sync', '10250 a gained job: first'],
    // it had arrived
    ['compareAndSet', '10000 a gained job: lease-ended'],
  ] as const)('counts as failed after the TTL of a lease, whatever comes later: %s', async (request, gained) => {
    const a = world.add('a');
    const answers = a.store[request].bind(a.store) as (asked: unknown) => Promise<unknown>;
    let lateMs = 20_000;
    const answer = async (asked: unknown) => {
      const answered = await answers(asked);
      const waitMs = lateMs;
      lateMs = 0;
      await world.clock.sleep(waitMs);
      return answered;
    };
    Object.assign(a.store, { [request]: answer });
    const job = a.compete('job');
    await world.clock.advance(60_000);
    expect([world.story, job.term.isValid()]).toEqual([[gained], true]);
  });
});

describe('a write', () => {
  /** When the writes of a store leave, whose answers are given. */
  function timesOf({ script }: FaultyStore, answer: WriteStep): number[] {
    const times: number[] = [];
    script.compareAndSet = (carryOut) => {
      times.push(world.clock.now());
      return answer(carryOut);
    };
    return times;
  }
  const refused = () => Promise.resolve([undefined]);

  it('that is refused again and again waits longer and longer', async () => {
    const a = world.add('a');
    a.compete('job');
    const times = timesOf(a.store, refused);
    await world.clock.advance(10_000);
    expect(times).toEqual([0, 0, 250, 750, 1_750, 3_750, 6_750, 9_750]);
  });

  it('that is carried out again and again, and never answered, waits longer and longer', async () => {
    const [a, b] = await world.leaderAndFollower();
    const times = timesOf(b.store, async (carryOut) => {
      await carryOut();
      throw new Error('lost');
    });
    void a.job.election.withdraw('unregistered');
    await world.clock.advance(2_000);
    expect(times).toEqual([100, 100, 350, 850, 1_850]);
  });

  it('of a caller that is refused again and again waits, too, for 2 s at most', async () => {
    const [, b] = await world.leaderAndFollower();
    const times = timesOf(b.store, refused);
    void b.job.pause();
    await world.clock.advance(10_000);
    expect(times).toEqual([100, 100, 350, 850, 1_850]);
  });

  it('without an answer is looked for, and not repeated if it has arrived', async () => {
    const [a] = await world.leaderAndFollower();
    a.store.writes = [];
    a.store.scriptWrite(async (carryOut) => {
      await carryOut();
      throw new Error('lost');
    });
    const saved = a.job.term.save({ lastScheduledAt: 1 });
    await world.clock.advance(0);
    await expect(saved).resolves.toBe(true);
    expect(a.store.writes.length).toBe(1);
  });
});

describe('an answer', () => {
  it('to a sync that left before a write was answered says nothing about its record', async () => {
    const a = await world.leader();
    a.store.script.sync = async (carryOut) => {
      const result = await carryOut();
      await world.clock.sleep(50);
      return result;
    };
    a.job.election.stepDown('rebalance', 20);
    await world.clock.advance(0);
    void a.replica.read(['job:job'], 1_000);
    await world.clock.advance(50);
    expect([a.job.terms.length, a.job.term.end]).toEqual([2, undefined]);
  });
});

describe('a lock', () => {
  it('for which many wait is passed on at once, however often another was faster', async () => {
    const waiters = ['a', 'b', 'c', 'd', 'e'].map((id) => world.add(id, { random: 1 }).compete('lock', 'lock'));
    await world.clock.advance(5);
    for (const { election } of waiters) {
      expect(election.term).toBeDefined();
      void election.withdraw('shutdown');
      await world.clock.advance(5);
    }
  });

  it('that is free is taken after a sync, if the wall clock was set ahead', async () => {
    const a = await world.leader();
    world.clock.stepWall(60_000);
    world.server.jump(-60_000);
    const lock = a.compete('lock', 'lock');
    await world.clock.advance(0);
    expect(lock.term.isValid()).toBe(true);
  });

  it('that is held for longer than 8 h is written again; a job is never forgotten', async () => {
    const ttlMs = 4 * 3_600_000;
    const a = world.add('a', { ttlMs });
    a.compete('job', 'job', ttlMs);
    a.compete('lock', 'lock', ttlMs);
    await world.clock.advance(8 * 3_600_000);
    const writes = a.store.writes.flatMap((request) => request.writes);
    expect(writes.map(({ forgetAfterMs = 0 }) => forgetAfterMs / 3_600_000)).toEqual([0, 24, 24]);
  });

  it('with another TTL is taken under a lease of its own, and leaves its fencing token', async () => {
    const a = await world.leader();
    const lock = a.compete('lock', 'lock', 20_000);
    await world.clock.advance(0);
    await lock.election.withdraw('unregistered');
    const { fencingToken, holder } = lock.term;
    const incarnation = a.replica.context.storeView.incarnation.id;
    expect([holder, world.record('lock')]).toEqual(['a.2@20000#2', { fencingToken, incarnation }]);
  });
});
