import { describe, expect, it } from '@jest/globals';
import { cron } from '../schedule/cron/cron.js';
import { type LockMessage } from '../store/lock-store.js';
import { settle } from '../testing/index.js';
import { type TestReplica, type TestReplicaOptions } from '../testing/replicas/test-replica.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership, timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const electionOf = ({ pool }: TestReplica) => pool.find('tick')?.active?.election;

const releaseOf = (holder: string, token: number): LockMessage => ({
  kind: 'released',
  locks: [{ name: 'tick', holder, token }],
});
const grantOf = (holder: string, token: number): LockMessage => ({
  kind: 'granted',
  locks: [{ name: 'tick', holder, token }],
});

describe('A follower', () => {
  const replicas = useReplicas();

  it('follows the new leader without a request of its own, and leads after its death', async () => {
    const random = () => 0.99;
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    const c = replicas.start('c', [job()], { random });
    const d = replicas.start('d', [job()], { random });
    await replicas.clock.advance(1_500);
    const requests = [c, d].map(({ store }) => store.count('acquire'));
    await a.pool.close();
    await replicas.clock.advance(100);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(1);
    // the grant came before their random time was over
    expect([c, d].map(({ store }) => store.count('acquire'))).toEqual(requests);
    b.store.partition();
    c.store.partition();
    await replicas.clock.advance(12_000);
    expect(timesOf(d, 'leadershipGained')).toHaveLength(1);
  });

  it('ignores a grant that is older than the newest release', async () => {
    const b = replicas.start('b', [job()]);
    replicas.server.occupy('tick', 'a.1@10000#1', 60_000);
    await replicas.clock.advance(100);
    const requests = b.store.count('acquire');
    replicas.server.free('tick');
    replicas.server.publish(releaseOf('a.1@10000#1', Number.MAX_SAFE_INTEGER - 5));
    replicas.server.publish(grantOf('a.1@10000#1', Number.MAX_SAFE_INTEGER - 5));
    await replicas.clock.advance(0);
    expect(b.store.count('acquire')).toBe(requests + 1);
    expect(electionOf(b)?.leader).toMatch(/^b\./);
  });

  it('ignores a release that is older than the newest grant', async () => {
    replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(100);
    const requests = b.store.count('acquire');
    replicas.server.publish(releaseOf('c.1@10000#1', 5));
    await replicas.clock.advance(1_000);
    expect(b.store.count('acquire')).toBe(requests);
    expect(electionOf(b)?.leader).toMatch(/^a\./);
  });

  it('sends its request again after a release that came while it was under way', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()], { network: { delayMs: 300 } });
    // its request is carried out at 400, and answered at 700
    await replicas.clock.advance(400);
    await a.pool.remove('tick');
    await replicas.clock.advance(1_000);
    // 700, and a request
    expect(timesOf(b, 'leadershipGained')).toEqual([1_000]);
  });

  it('takes over a lock of an earlier attempt of its own session', async () => {
    const b = replicas.start('b', [job({ name: 'other' })]);
    await replicas.clock.advance(0);
    replicas.server.occupy('tick', 'b.1@10000#0', 35_000);
    b.pool.add(job());
    await replicas.clock.advance(0);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(2);
  });

  it('requests a lock again that another part of its replica has released', async () => {
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(0);
    let calls = 0;
    const leave = b.leadership.messages.addWaiter('tick', {
      released: () => (calls += 1),
      subscriptionChanged: () => undefined,
    });
    await b.pool.remove('tick');
    await settle();
    expect(calls).toBe(1);
    leave();
  });

  it('reports a lock without a time to live once, and leads when it has expired', async () => {
    replicas.server.occupy('tick', 'another-client');
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(35_000);
    expect(a.observer.eventLines).toEqual(['0 warning LOCK_TTL_RESTORED']);
    await replicas.clock.advance(3_000);
    expect(leadership(a)).toEqual([expect.stringMatching(/^3\d{4} leadershipGained$/)]);
  });
});

describe('A replica that releases a lock and stays alive', () => {
  const replicas = useReplicas();

  const releases = ({ store }: TestReplica) => store.sent.filter(({ name }) => name === 'released tick').length;

  it('publishes the release again after a second, at most three times', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    await a.pool.remove('tick');
    await replicas.clock.advance(900);
    expect(releases(a)).toBe(0);
    await replicas.clock.advance(100);
    expect(releases(a)).toBe(1);
    await replicas.clock.advance(60_000);
    expect(releases(a)).toBe(3);
  });

  it('publishes it again also while a shutdown waits for another job', async () => {
    const a = replicas.start('a', [job(), job({ name: 'long', run: lasting(replicas.clock, 20_000) })]);
    await replicas.clock.advance(500);
    void a.pool.stop();
    await replicas.clock.advance(1_000);
    expect(releases(a)).toBe(1);
  });

  it('stops publishing when it receives a grant', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(500);
    b.store.losesMessages = true;
    await a.pool.remove('tick');
    b.store.losesMessages = false;
    await replicas.clock.advance(60_000);
    expect(releases(a)).toBe(1);
    expect(timesOf(b, 'leadershipGained')).toEqual([1_500]);
  });

  it('stops publishing when it leads again', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    await a.pool.remove('tick');
    a.pool.add(job());
    await replicas.clock.advance(60_000);
    expect(releases(a)).toBe(0);
  });

  it('continues to publish after a grant that is older than the release', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    await a.pool.remove('tick');
    replicas.server.publish(grantOf('b.1@10000#1', 5));
    await replicas.clock.advance(60_000);
    expect(releases(a)).toBe(3);
  });

  it('lets another replica lead within a second if the message was lost', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(500);
    b.store.losesMessages = true;
    electionOf(a)?.stepDown();
    await replicas.clock.advance(0);
    b.store.losesMessages = false;
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([1_500]);
    expect(timesOf(a, 'leadershipGained')).toEqual([0]);
  });
});

describe('Grants', () => {
  const replicas = useReplicas();

  it('that are answered together are published in one message', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `job-${index}`);
    const a = replicas.start(
      'a',
      names.map((name) => job({ name })),
    );
    await replicas.clock.advance(100);
    expect(a.store.sent.filter(({ request }) => request === 'publish')).toEqual([
      { request: 'publish', name: `granted ${names.join(',')}` },
    ]);
  });

  it('of another replica make the leader that receives them renew its lock at once', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(500);
    const renewed = a.store.count('renew');
    replicas.server.publish(grantOf('b.1@10000#1', Number.MAX_SAFE_INTEGER));
    await replicas.clock.advance(0);
    expect(a.store.count('renew')).toBe(renewed + 1);
    expect(leadership(a)).toEqual(['0 leadershipGained']);
  });
});

describe('A lock whose holder has no session', () => {
  const replicas = useReplicas();

  it('is respected until its key expires, with a request at each heartbeat', async () => {
    replicas.server.occupy('tick', 'another-client', 60_000);
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(12_500);
    // at the start, and at 3, 6, 9 and 12 seconds
    expect(a.store.count('acquire')).toBe(5);
    expect(a.observer.eventLines).toEqual([]);
    replicas.server.free('tick');
    await replicas.clock.advance(3_000);
    expect(timesOf(a, 'leadershipGained')).toEqual([15_000]);
  });

  it.each(['another-client', 'b.1@10000#999'])(
    'is acquired within milliseconds when its key expires: %s',
    async (holder) => {
      replicas.server.occupy('tick', holder, 10_000);
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(60_000);
      expect(timesOf(a, 'leadershipGained')).toEqual([10_001]);
    },
  );
});

describe('The safety net', () => {
  const replicas = useReplicas();

  it.each([
    [1, 5],
    [4, 5],
  ])('lets %i followers together send one request per job and minute', async (followers, minutes) => {
    let chance = 0;
    // evenly spread
    const random = () => (chance = (chance + 0.618) % 1);
    replicas.start('leader', [job()]);
    const others = Array.from({ length: followers }, (_, index) => replicas.start(`f${index}`, [job()], { random }));
    await replicas.clock.advance(60_000);
    const before = others.map(({ store }) => store.count('acquire'));
    await replicas.clock.advance(minutes * 60_000);
    const requests = others.reduce((sum, { store }, index) => sum + store.count('acquire') - (before[index] ?? 0), 0);
    expect(requests).toBeGreaterThanOrEqual(minutes * 0.7);
    expect(requests).toBeLessThanOrEqual(minutes * 1.4);
  });

  it('rides beside a heartbeat, so that the requests of all jobs leave together', async () => {
    const jobs = Array.from({ length: 20 }, (_, index) => job({ name: `job-${index}` }));
    let chance = 0;
    replicas.start('a', jobs);
    const b = replicas.start('b', jobs, { random: () => (chance = (chance + 0.618) % 1) });
    await replicas.clock.advance(30_000);
    const at: Record<string, number[]> = { acquire: [], heartbeat: [] };
    b.store.outcome = (request) => {
      at[request]?.push(replicas.clock.now());
      return 'answered';
    };
    await replicas.clock.advance(300_000);
    expect(at['acquire']?.length).toBeGreaterThan(60);
    expect(at['acquire']?.filter((ms) => !at['heartbeat']?.includes(ms))).toEqual([]);
  });

  it('finds a lock that was deleted', async () => {
    const a = replicas.start('a', [job()]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(2_000);
    // its leader neither renews nor dies: it has forgotten the lock
    replicas.server.free('tick');
    a.store.outcome = (request) => (request === 'renew' ? 'STORE_UNREACHABLE' : 'answered');
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([30_000]);
  });
});

describe('A follower without a subscription', () => {
  const replicas = useReplicas();

  it('sends a request every 10 s', async () => {
    replicas.start('a', [job()]);
    const b = replicas.start('b', [job()], { network: { isSubscribed: false } });
    await replicas.clock.advance(60_500);
    expect(b.store.count('acquire')).toBe(7);
  });

  it('sends a request within 10 s after it lost its subscription', async () => {
    // its session stays when it gives up the job
    const a = replicas.start('a', [job(), job({ name: 'other' })]);
    const b = replicas.start('b', [job()], { random: () => 0.5 });
    await replicas.clock.advance(10_500);
    b.store.unsubscribe();
    await a.pool.remove('tick');
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([15_500]);
  });

  it('sends a request within 10 s after it is subscribed again', async () => {
    const a = replicas.start('a', [job(), job({ name: 'other' })]);
    const b = replicas.start('b', [job()], { random: () => 0.1 });
    await replicas.clock.advance(10_500);
    b.store.unsubscribe();
    await replicas.clock.advance(1_500);
    await a.pool.remove('tick');
    b.store.subscribe();
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([13_000]);
  });
});

describe('After a release or a death', () => {
  const replicas = useReplicas();

  const start = (count: number, random: () => number, options: TestReplicaOptions = {}) =>
    Array.from({ length: count }, (_, index) => replicas.start(`f${index}`, [job()], { ...options, random }));

  it('a single follower sends its request at once', async () => {
    const a = replicas.start('a', [job()]);
    const [b] = start(1, () => 0.99);
    await replicas.clock.advance(3_500);
    await a.pool.remove('tick');
    await replicas.clock.advance(0);
    expect(b === undefined ? [] : timesOf(b, 'leadershipGained')).toEqual([3_500]);
  });

  it('each of several followers waits a random time, at most 5 ms x others x 0.5', async () => {
    const a = replicas.start('a', [job()]);
    let chance = 0;
    const others = Array.from({ length: 11 }, (_, index) => {
      chance = (index + 1) / 12;
      const own = chance;
      return replicas.start(`f${index}`, [job()], { random: () => own });
    });
    await replicas.clock.advance(3_500);
    const before = others.map(({ store }) => store.count('acquire'));
    await a.pool.remove('tick');
    await replicas.clock.advance(0);
    expect(others.map(({ store }) => store.count('acquire'))).toEqual(before);
    await replicas.clock.advance(60);
    // the first one is granted, and its grant cancels the others
    expect(others.flatMap((other) => timesOf(other, 'leadershipGained'))).toEqual([
      3_500 + Math.ceil((5 * 10 * 0.5) / 12),
    ]);
    const requests = others.filter(({ store }, index) => store.count('acquire') > (before[index] ?? 0));
    expect(requests).toHaveLength(1);
  });

  it('a replica that leads more than its share waits longer', async () => {
    const random = () => 0.5;
    const a = replicas.start('a', [job()], { random });
    const busy = replicas.start('busy', [job({ name: 'one' }), job({ name: 'two' }), job()], { random });
    const idle = replicas.start('idle', [job()], { random });
    await replicas.clock.advance(3_500);
    expect(timesOf(busy, 'leadershipGained')).toHaveLength(2);
    await a.pool.remove('tick');
    await replicas.clock.advance(60);
    expect(timesOf(idle, 'leadershipGained')).toEqual([3_500 + Math.ceil(0.5 * 5 * 0.5)]);
    expect(timesOf(busy, 'leadershipGained')).toHaveLength(2);
  });

  it('a follower leads after two others have died one after the other', async () => {
    const [first, second, third] = [0, 0.1, 0.9].map((chance, index) =>
      replicas.start(`r${index}`, [job()], { random: () => chance }),
    ) as [TestReplica, TestReplica, TestReplica];
    await replicas.clock.advance(3_500);
    expect(timesOf(first, 'leadershipGained')).toHaveLength(1);
    first.store.partition();
    await replicas.clock.advance(12_000);
    expect(timesOf(second, 'leadershipGained')).toHaveLength(1);
    // its only request is that of its start: it knows the rest from grants
    expect(third.store.count('acquire')).toBe(1);
    second.store.partition();
    await replicas.clock.advance(14_000);
    expect(timesOf(third, 'leadershipGained')).toHaveLength(1);
  });
});

describe('After a reconnect', () => {
  const replicas = useReplicas();

  it('a follower sends a request within 10 s if the leader is known to be alive', async () => {
    replicas.start('a', [job()]);
    const b = replicas.start('b', [job()], { random: () => 0.5 });
    await replicas.clock.advance(11_000);
    const requests = b.store.count('acquire');
    b.store.reconnect();
    await replicas.clock.advance(5_200);
    expect(b.store.count('acquire')).toBe(requests);
    await replicas.clock.advance(100);
    expect(b.store.count('acquire')).toBe(requests + 1);
  });

  it('a follower sends a request at once if the leader is not known to be alive', async () => {
    replicas.server.occupy('tick', 'c.1@10000#1', 35_000);
    const b = replicas.start('b', [job()], { random: () => 0.5 });
    await replicas.clock.advance(5_000);
    const requests = b.store.count('acquire');
    b.store.reconnect();
    await replicas.clock.advance(250);
    expect(b.store.count('acquire')).toBe(requests + 1);
  });

  it('a leader renews all its locks at once', async () => {
    const a = replicas.start('a', [job(), job({ name: 'other' })]);
    await replicas.clock.advance(4_000);
    const renewed = a.store.count('renew');
    a.store.reconnect();
    await replicas.clock.advance(250);
    expect(a.store.count('renew')).toBe(renewed + 2);
  });
});

describe('A replica that follows hundreds of jobs', () => {
  const JOBS = 300;
  const replicas = useReplicas();
  const jobs = Array.from({ length: JOBS }, (_, index) => job({ name: `job-${index}`, schedule: cron('0 3 * * *') }));

  it('has at most 25 unanswered acquire requests, and its heartbeats do not wait', async () => {
    const b = replicas.start('b', jobs, {
      network: { outcome: (request) => (request === 'acquire' ? 'answer-lost' : 'answered') },
    });
    await replicas.clock.advance(1_400);
    expect(b.store.count('acquire')).toBe(25);
    expect(b.store.count('heartbeat')).toBeGreaterThan(0);
    b.store.outcome = () => 'answered';
    await replicas.clock.advance(1_000);
    expect(b.observer.of('leadershipGained')).toHaveLength(JOBS);
  });

  it('sends each request once when Redis hangs for 1.4 s after the death of the leader', async () => {
    const a = replicas.start('a', jobs);
    const b = replicas.start('b', jobs);
    await replicas.clock.advance(3_500);
    a.store.partition();
    const before = b.store.count('acquire');
    await replicas.clock.advance(9_501);
    // each answer takes 1.4 s from now on
    const arrive = b.store.holdAnswers();
    await replicas.clock.advance(1_400);
    arrive();
    b.store.answersAfter = undefined;
    await replicas.clock.advance(1_000);
    expect(b.observer.of('leadershipGained')).toHaveLength(JOBS);
    expect(b.store.count('acquire') - before).toBe(JOBS);
  });
});

describe('The server that keeps a lock', () => {
  const replicas = useReplicas();

  it('is named in each request as the last answer showed it, and is forgotten with the job', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(1_000);
    const b = replicas.prepare('b', [job()]);
    const known: (string | undefined)[] = [];
    const acquire = b.store.acquire.bind(b.store);
    b.store.acquire = async (request) => {
      known.push(request.knownServerId);
      const result = await acquire(request);
      return { ...result, serverId: `node-${String(known.length)}` };
    };
    b.pool.start();
    await replicas.clock.advance(1_000);
    b.store.reconnect();
    await replicas.clock.advance(20_000);
    expect(known.slice(0, 2)).toEqual([undefined, 'node-1']);
    await Promise.all([b.pool.remove('tick'), replicas.clock.advance(1_000)]);
    known.length = 0;
    b.pool.add(job());
    await replicas.clock.advance(1_000);
    expect(known).toEqual([undefined]);
    expect(leadership(a)).toHaveLength(1);
  });
});

describe('A follower', () => {
  const replicas = useReplicas();

  it('says once that the leader has another schedule', async () => {
    const hourly = job({ schedule: cron('0 * * * *', { jobName: 'tick' }) });
    const daily = job({ schedule: cron('0 3 * * *', { jobName: 'tick' }) });
    const a = replicas.start('a', [hourly]);
    await replicas.clock.advance(1_000);
    const b = replicas.start('b', [daily]);
    const c = replicas.start('c', [hourly]);
    await replicas.clock.advance(10 * 60_000);
    const warned = [a, b, c].map(({ observer }) => observer.of('warning').map(({ code, message }) => [code, message]));
    const message = expect.stringMatching(
      /^has the schedule 'cron 0 3 .* here, and 'cron 0 \* .* on a, which leads it\./,
    );
    expect(warned).toEqual([[], [['SCHEDULE_DIFFERS', message]], []]);
  });
});
