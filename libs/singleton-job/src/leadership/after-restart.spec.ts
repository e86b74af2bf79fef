import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { settle } from '../testing/index.js';
import { type TestReplica, type TestReplicaOptions } from '../testing/replicas/test-replica.js';
import { type TestReplicas } from '../testing/replicas/test-replicas.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership, timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { type TestServer } from '../testing/test-server.js';

const LOCK_EXPIRY_MS = 10_000;
/** From the end of a connection to the next. */
const RECONNECT_MS = 250;

type Snapshot = ReturnType<TestServer['snapshot']>;

/** The server restarts, with the data of a snapshot or with none, and all connections are closed. */
function restart({ server }: TestReplicas, replicas: readonly TestReplica[], snapshot?: Snapshot): void {
  server.restart(snapshot);
  for (const { store } of replicas) store.reconnect();
}

/** The same data with the sessions of a replica marked as ended. */
function withEnded(snapshot: Snapshot, replica: string): Snapshot {
  const sessions = [...snapshot.sessions].map(
    ([id, session]) => [id, id.startsWith(`${replica}.`) ? { ...session, hasEnded: true } : session] as const,
  );
  return { ...snapshot, sessions: new Map(sessions) };
}

/** A leader and a follower. */
function pair(replicas: TestReplicas, overrides: Parameters<typeof job>[0] = {}, options: TestReplicaOptions = {}) {
  const a = replicas.start('a', [job(overrides)], options);
  const b = replicas.start('b', [job(overrides)], options);
  return [a, b] as const;
}

describe('After Redis has restarted without its data', () => {
  const replicas = useReplicas();

  it('the leader continues within a second, and no other replica leads', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    restart(replicas, [a, b]);
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained', '4250 leadershipLost preempted', '4250 leadershipGained']);
    expect(leadership(b)).toEqual([]);
  });

  it('the end of the outage says so, and not after an outage of the network', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    restart(replicas, [a, b]);
    await replicas.clock.advance(10_000);
    a.store.reconnect();
    await replicas.clock.advance(10_000);
    expect(a.observer.of('storeRecovered')).toMatchObject([{ hasRestarted: true }, { outageMs: RECONNECT_MS }]);
    expect(a.observer.of('storeRecovered')[1]).not.toHaveProperty('hasRestarted');
  });

  it('a follower leads lockExpiry after the restart was noticed, if the leader is cut off', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    a.store.partition();
    restart(replicas, [b]);
    await replicas.clock.advance(60_000);
    // the last heartbeat of the leader was at 3 s
    expect(leadership(a)).toEqual(['0 leadershipGained', '12000 leadershipLost expired']);
    expect(timesOf(b, 'leadershipGained')).toEqual([4_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
    const [ours = NaN, theirs] = [a, b].map(({ observer }) => observer.of('leadershipGained')[0]?.fencingToken);
    expect(theirs).toBeGreaterThan(ours);
  });

  it('a follower that knows the leader only from its message waits', async () => {
    const outcome = (request: string) => (request === 'acquire' ? 'request-lost' : 'answered');
    const b = replicas.start('b', [job()], { network: { outcome } });
    await settle();
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(100);
    expect(leadership(a)).toHaveLength(1);
    b.store.outcome = () => 'answered';
    await replicas.clock.advance(3_900);
    a.store.partition();
    restart(replicas, [b]);
    await replicas.clock.advance(5_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([]);
    await replicas.clock.advance(10_000);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(1);
  });

  it('a replica that has noticed the restart waits, also without knowing the job', async () => {
    const b = replicas.start('b', [job({ name: 'other' })]);
    await replicas.clock.advance(4_000);
    restart(replicas, [b]);
    await replicas.clock.advance(1_000);
    b.pool.add(job());
    await replicas.clock.advance(60_000);
    const gained = b.observer.events.filter(
      ({ event, payload }) => event === 'leadershipGained' && 'job' in payload && payload.job === 'tick',
    );
    expect(gained.map(({ atMs }) => atMs)).toEqual([4_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
  });

  it('a follower waits for the longer lockExpiry of the last leader', async () => {
    const a = replicas.start('a', [job({ lockExpiryMs: 30_000 })]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(4_000);
    a.store.partition();
    restart(replicas, [b]);
    await replicas.clock.advance(60_000);
    expect(timesOf(a, 'leadershipLost')).toEqual([3_000 + 27_000]);
    expect(timesOf(b, 'leadershipGained')).toEqual([4_000 + RECONNECT_MS + 30_000 + 1]);
  });

  it('a replica that restarts with it leads at once, as on a server that was never seen', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(4_000);
    a.store.partition();
    replicas.server.restart();
    const c = replicas.start('c', [job()]);
    await replicas.clock.advance(10);
    // a first start, as far as anything can tell
    expect(timesOf(c, 'leadershipGained')).toEqual([4_000]);
  });
});

describe('After Redis has restarted with old data', () => {
  const replicas = useReplicas();

  it('the leader continues with its term if its lock was restored', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(1_000);
    const snapshot = replicas.server.snapshot();
    await replicas.clock.advance(8_000);
    restart(replicas, [a, b], snapshot);
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained']);
    expect(leadership(b)).toEqual([]);
  });

  it('the leader continues within a second if the restored keys have expired', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(1_000);
    const snapshot = replicas.server.snapshot();
    await replicas.clock.advance(59_000);
    restart(replicas, [a, b], snapshot);
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained', '60250 leadershipLost preempted', '60250 leadershipGained']);
    expect(leadership(b)).toEqual([]);
  });

  it('the leader continues within a second if the restored lock names an ended session', async () => {
    const d = replicas.start('d', [job()]);
    await replicas.clock.advance(1_000);
    d.store.partition();
    const [a, b] = pair(replicas);
    await replicas.clock.advance(8_900);
    const snapshot = withEnded(replicas.server.snapshot(), 'd');
    await replicas.clock.advance(5_100);
    const [leader, follower] = timesOf(a, 'leadershipGained').length > 0 ? [a, b] : [b, a];
    restart(replicas, [a, b], snapshot);
    await replicas.clock.advance(60_000);
    expect(timesOf(leader, 'leadershipGained')).toEqual([expect.any(Number), 15_000 + RECONNECT_MS]);
    expect(timesOf(follower, 'leadershipGained')).toEqual([]);
  });

  it('a follower waits before it takes a lock from a session that was restored as ended', async () => {
    const d = replicas.start('d', [job()]);
    await replicas.clock.advance(1_000);
    d.store.partition();
    const [a, b] = pair(replicas);
    await replicas.clock.advance(8_900);
    const snapshot = withEnded(replicas.server.snapshot(), 'd');
    await replicas.clock.advance(5_100);
    const [leader, follower] = timesOf(a, 'leadershipGained').length > 0 ? [a, b] : [b, a];
    leader.store.partition();
    restart(replicas, [follower], snapshot);
    await replicas.clock.advance(60_000);
    expect(timesOf(follower, 'leadershipGained')).toEqual([15_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
    expect(timesOf(leader, 'leadershipLost')[0]).toBeLessThan(15_000 + RECONNECT_MS + LOCK_EXPIRY_MS);
  });

  it('the leader takes over a restored lock of an earlier term of its own session at once', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(1_000);
    const snapshot = replicas.server.snapshot();
    a.pool.find('tick')?.active?.election.stepDown();
    await replicas.clock.advance(0);
    await replicas.clock.advance(3_000);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(1_000);
    restart(replicas, [a, b], snapshot);
    await replicas.clock.advance(60_000);
    expect(timesOf(a, 'leadershipGained')).toEqual([0, 3_000, 5_000 + RECONNECT_MS]);
    expect(timesOf(b, 'leadershipGained')).toEqual([]);
  });

  it('a replica takes over its own restored lock after lockExpiry if it no longer leads', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(1_000);
    const snapshot = replicas.server.snapshot();
    a.pool.find('tick')?.active?.election.stepDown();
    await replicas.clock.advance(0);
    await replicas.clock.advance(4_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([1_000]);
    restart(replicas, [a, b], snapshot);
    await replicas.clock.advance(60_000);
    expect(leadership(b).slice(1)).toEqual(['5250 leadershipLost preempted']);
    expect(timesOf(a, 'leadershipGained')).toEqual([0, 5_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
  });

  it('a restored lock that its living holder has released is free when its life ends', async () => {
    const jobs = [job(), job({ name: 'other' })];
    const a = replicas.start('a', jobs);
    await replicas.clock.advance(1_000);
    const b = replicas.start('b', [job()]);
    const snapshot = replicas.server.snapshot();
    await a.pool.remove('tick');
    await replicas.clock.advance(4_000);
    restart(replicas, [a, b], snapshot);
    await replicas.clock.advance(60_000);
    const [first, again] = timesOf(b, 'leadershipGained');
    expect(first).toBe(1_000);
    // it was granted at 0, and lives for 35 s
    expect(again).toBeGreaterThan(35_000);
    expect(again).toBeLessThan(35_100);
  });

  it('the session of a dead leader gets a full life, then another replica leads', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(5_000);
    const snapshot = replicas.server.snapshot();
    a.store.partition();
    await replicas.clock.advance(6_000);
    restart(replicas, [b], snapshot);
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([11_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
  });

  it('replicas that restart with it wait for the session of the last leader', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(5_000);
    a.store.partition();
    replicas.server.restart(replicas.server.snapshot());
    const c = replicas.start('c', [job()]);
    await replicas.clock.advance(60_000);
    expect(timesOf(c, 'leadershipGained')).toEqual([5_000 + LOCK_EXPIRY_MS + 1]);
  });
});

describe('A release soon after a restart of the store', () => {
  const replicas = useReplicas();

  it.each([
    ['is received', false],
    ['is lost', true],
  ])('makes the next leader wait as well, whether its message %s', async (_how, isLost) => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    restart(replicas, [a, b], replicas.server.snapshot());
    await replicas.clock.advance(1_000);
    b.store.losesMessages = isLost;
    await a.pool.stop();
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([4_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
  });
});

describe('The exemption of the old leader from the wait after a restart', () => {
  const replicas = useReplicas();

  it('ends with its deadline', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(1_000);
    a.store.partition();
    b.store.partition();
    replicas.server.restart();
    await replicas.clock.advance(9_000);
    a.store.heal();
    b.store.heal();
    await replicas.clock.advance(60_000);
    expect(leadership(a).slice(0, 2)).toEqual(['0 leadershipGained', '9000 leadershipLost expired']);
    const next = Math.min(...[...timesOf(a, 'leadershipGained').slice(1), ...timesOf(b, 'leadershipGained')]);
    expect(next).toBe(10_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1);
  });

  it('ends with its release: the next leader may be valid for longer', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    // it does not receive the grant of the next leader
    a.store.losesMessages = true;
    a.pool.find('tick')?.active?.election.stepDown();
    await replicas.clock.advance(0);
    await replicas.clock.advance(0);
    expect(timesOf(b, 'leadershipGained')).toEqual([4_000]);
    b.store.partition();
    restart(replicas, [a]);
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipLost')).toEqual([12_000]);
    expect(timesOf(a, 'leadershipGained')).toEqual([0, 4_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
  });

  it('ends when the store ended its session: another replica may have led since', async () => {
    const run = lasting(replicas.clock, 7_000);
    const [a, b] = pair(replicas, { run });
    await replicas.clock.advance(3_500);
    a.store.losesMessages = true;
    const session = replicas.server.holderOf('tick')?.split('#')[0] ?? '';
    replicas.server.endSession({ id: session, lockExpiryMs: LOCK_EXPIRY_MS, confirmedEnd: undefined });
    await replicas.clock.advance(3_500);
    expect([timesOf(a, 'leadershipLost'), timesOf(b, 'leadershipGained')]).toEqual([[6_000], [6_000]]);
    b.store.partition();
    restart(replicas, [a]);
    // the run of the old leader ends at 8 s, four seconds before the end of its lease
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipLost')).toEqual([15_000]);
    expect(timesOf(a, 'leadershipGained')).toEqual([0, 7_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
  });
});

describe('A lease after a restart of the store', () => {
  const replicas = useReplicas();

  it('ends at its old deadline, if heartbeats are answered and the lock is not confirmed', async () => {
    const [a, b] = pair(replicas, { schedule: interval(1_000) });
    await replicas.clock.advance(4_000);
    a.store.outcome = (request) => (request === 'renew' || request === 'acquire' ? 'STORE_UNREACHABLE' : 'answered');
    replicas.server.loseData();
    await replicas.clock.advance(60_000);
    // the last heartbeat before the restart was at 3 s
    expect(timesOf(a, 'leadershipLost')).toEqual([12_000]);
    // noticed at 6 s
    expect(timesOf(b, 'leadershipGained')).toEqual([6_000 + LOCK_EXPIRY_MS + 1]);
  });

  it('continues with a renewal that was sent after the restart', async () => {
    const [a] = pair(replicas);
    await replicas.clock.advance(4_000);
    restart(replicas, [a], replicas.server.snapshot());
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained']);
  });

  it('does not go on with a renewal that was sent before the restart', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(9_900);
    let arrive: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (arrive = resolve));
    const renew = a.store.renew.bind(a.store);
    let isFirst = true;
    a.store.renew = async (request) => {
      if (!isFirst) return new Promise(() => undefined);
      isFirst = false;
      const result = await renew(request);
      await held;
      return result;
    };
    await replicas.clock.advance(1_000);
    replicas.server.restart(replicas.server.snapshot());
    await replicas.clock.advance(1_200);
    arrive();
    await replicas.clock.advance(20_000);
    // the last heartbeat before the restart was at 9 s
    expect(timesOf(a, 'leadershipLost')).toEqual([18_000]);
  });

  it('ends with a renewal that comes when it is no longer valid by one of the clocks', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(4_000);
    // the host was suspended for 15 s, and others may have led
    a.clock.aheadMs += 15_000;
    restart(replicas, [a], replicas.server.snapshot());
    await replicas.clock.advance(1_000);
    expect(leadership(a)[1]).toBe('4250 leadershipLost expired');
  });

  it('is confirmed again after its session had to be listed again', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    const before = a.store.count('renew');
    replicas.server.loseSessions();
    await replicas.clock.advance(2_000);
    expect(a.store.count('renew')).toBe(before + 1);
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained']);
    expect(leadership(b)).toEqual([]);
  });

  it('is confirmed again after each reconnect to a server without an id', async () => {
    const a = replicas.prepare('a', [job()]);
    const heartbeat = a.store.heartbeat.bind(a.store);
    a.store.heartbeat = async (request) => ({ ...(await heartbeat(request)), serverId: undefined, serverSince: 0 });
    a.pool.start();
    await replicas.clock.advance(4_000);
    a.store.outcome = (request) => (request === 'renew' || request === 'acquire' ? 'STORE_UNREACHABLE' : 'answered');
    restart(replicas, [a], replicas.server.snapshot());
    await replicas.clock.advance(60_000);
    expect(timesOf(a, 'leadershipLost')).toEqual([12_000]);
  });
});

describe('FLUSHALL', () => {
  const replicas = useReplicas();
  const SHORT_MS = 800;

  it('makes no second leader with a short lease and a lock that was just renewed', async () => {
    const run = lasting(replicas.clock, 200, { obedient: true });
    const [a, b] = pair(replicas, { lockExpiryMs: SHORT_MS, schedule: interval(50), run });
    await replicas.clock.advance(11_050);
    a.store.outcome = (request) => (request === 'renew' || request === 'acquire' ? 'STORE_UNREACHABLE' : 'answered');
    replicas.server.loseData();
    await replicas.clock.advance(20_000);
    const [lostAt = Infinity] = timesOf(a, 'leadershipLost');
    const [gainedAt = 0] = timesOf(b, 'leadershipGained');
    expect(lostAt).toBeLessThan(11_000 + SHORT_MS);
    expect(gainedAt).toBeGreaterThan(lostAt);
    expect(gainedAt).toBeLessThan(11_050 + 200 + SHORT_MS + 50);
  });

  it('lets the leader go on at its next heartbeat', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    replicas.server.loseData();
    await replicas.clock.advance(60_000);
    expect(leadership(a)).toEqual(['0 leadershipGained', '6000 leadershipLost preempted', '6000 leadershipGained']);
    expect(leadership(b)).toEqual([]);
  });

  it('and the death of the leader: another replica leads lockExpiry after the restart', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    replicas.server.loseData();
    a.store.partition();
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([6_000 + LOCK_EXPIRY_MS + 1]);
  });
});

describe('An acquire request that relies on old facts', () => {
  const replicas = useReplicas();

  it('is refused by a restarted server, and sent again after a heartbeat', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(1_000);
    const snapshot = replicas.server.snapshot();
    await replicas.clock.advance(40_000);
    let arrive: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (arrive = resolve));
    const acquire = b.store.acquire.bind(b.store);
    let results: unknown[] = [];
    b.store.acquire = async (request) => {
      await held;
      const result = await acquire(request);
      results = [...results, 'reason' in result ? result.reason : 'granted'];
      return result;
    };
    b.store.unsubscribe();
    await replicas.clock.advance(10_000);
    a.store.partition();
    // behind a proxy: the connection stands
    replicas.server.restart(snapshot);
    const before = b.store.count('heartbeat');
    arrive();
    await settle();
    expect(results[0]).toBe('outdated');
    expect(b.store.count('heartbeat')).toBe(before + 1);
    expect(timesOf(b, 'leadershipGained')).toEqual([]);
    await replicas.clock.advance(60_000);
    const [lostAt = Infinity] = timesOf(a, 'leadershipLost');
    expect(timesOf(b, 'leadershipGained')[0]).toBeGreaterThan(lostAt);
  });
});

describe('An outdated request, when no heartbeat is answered', () => {
  const replicas = useReplicas();

  it('is not sent more often than four times a second', async () => {
    const a = replicas.start('a', [job({ name: 'other' })]);
    await replicas.clock.advance(1_000);
    a.store.outcome = (request) => (request === 'heartbeat' ? 'STORE_REFUSED_WRITE' : 'answered');
    // behind a proxy: the connection stands
    replicas.server.restart();
    a.pool.add(job());
    await replicas.clock.advance(1_000);
    expect(a.store.count('acquire')).toBeLessThanOrEqual(1 + 5);
  });
});

describe('A first start', () => {
  const replicas = useReplicas();

  it('does not wait, on a server that was never seen before', async () => {
    replicas.begin({ isServerNew: true });
    const a = replicas.start('a', [job()]);
    await settle();
    expect(timesOf(a, 'leadershipGained')).toEqual([0]);
  });

  it('lets replicas that saw the job only on this server lead without a wait', async () => {
    replicas.begin({ isServerNew: true });
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(1_000);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(1_000);
    await a.pool.stop();
    await replicas.clock.advance(1_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([2_000]);
  });

  it('is not assumed by a replica that has noticed a restart, also with a new state', async () => {
    const [a, b] = pair(replicas);
    await replicas.clock.advance(4_000);
    restart(replicas, [a, b]);
    await replicas.clock.advance(2_000);
    expect(a.observer.of('leadershipGained')).toHaveLength(2);
    await a.pool.stop();
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([4_000 + RECONNECT_MS + LOCK_EXPIRY_MS + 1]);
  });

  it('is not assumed for a job whose state is older than the server', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(60_000);
    await a.pool.stop();
    // the lock is released, and the state is what a snapshot has kept
    replicas.server.restart(replicas.server.snapshot());
    const restartedAt = replicas.clock.now();
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(60_000);
    expect(timesOf(b, 'leadershipGained')).toEqual([restartedAt + LOCK_EXPIRY_MS + 1]);
  });
});
