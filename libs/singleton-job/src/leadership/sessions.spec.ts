import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { type HeartbeatRequest } from '../store/lock-store.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership, timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const LOCK_EXPIRY_MS = 10_000;

/** Every heartbeat of a replica that has not started, and when it was sent. */
function recordHeartbeats({ store, clock }: TestReplica) {
  const heartbeats: { readonly atMs: number; readonly request: HeartbeatRequest }[] = [];
  const heartbeat = store.heartbeat.bind(store);
  store.heartbeat = (request) => {
    heartbeats.push({ atMs: clock.now(), request });
    return heartbeat(request);
  };
  return heartbeats;
}

describe('Heartbeats', () => {
  const replicas = useReplicas();

  it('keep the sessions of all lockExpiry values of a replica alive, in one request', async () => {
    const a = replicas.prepare('a', [
      job({ name: 'one' }),
      job({ name: 'two' }),
      job({ name: 'short', lockExpiryMs: 2_000 }),
    ]);
    const heartbeats = recordHeartbeats(a);
    a.pool.start();
    await replicas.clock.advance(60_000);
    const ids = heartbeats.at(-1)?.request.sessions.map(({ id }) => id);
    expect(ids).toEqual(['a.1@10000', 'a.2@2000']);
    expect(leadership(a)).toHaveLength(3);
  });

  it.each([
    [10_000, 3_000],
    [9_000, 3_000],
    [8_000, 2_000],
    [800, 200],
    [3_600_000, 3_000],
  ])('are sent often enough for the shortest lockExpiry: for %i ms every %i ms', async (lockExpiryMs, everyMs) => {
    const a = replicas.prepare('a', [job({ lockExpiryMs }), job({ name: 'long', lockExpiryMs: 3_600_000 })]);
    const heartbeats = recordHeartbeats(a);
    a.pool.start();
    await replicas.clock.advance(60_000);
    const [last = 0, before = 0] = heartbeats.map(({ atMs }) => atMs).reverse();
    expect(last - before).toBe(everyMs);
  });

  it('are sent sooner as soon as a job with a shorter lockExpiry is added', async () => {
    const a = replicas.prepare('a', [job()]);
    const heartbeats = recordHeartbeats(a);
    a.pool.start();
    await replicas.clock.advance(10_000);
    a.pool.add(job({ name: 'short', lockExpiryMs: 800 }));
    await replicas.clock.advance(1_000);
    expect(heartbeats.map(({ atMs }) => atMs).filter((atMs) => atMs >= 10_000)).toEqual([
      10_000, 10_200, 10_400, 10_600, 10_800, 11_000,
    ]);
  });

  it('leave out a session whose last job is gone, and end it in the store', async () => {
    const a = replicas.prepare('a', [job(), job({ name: 'short', lockExpiryMs: 800 })]);
    const heartbeats = recordHeartbeats(a);
    a.pool.start();
    await replicas.clock.advance(10_000);
    await Promise.all([a.pool.remove('short'), replicas.clock.advance(1_000)]);
    expect(a.store.count('endSession')).toBe(1);
    heartbeats.length = 0;
    await replicas.clock.advance(9_000);
    expect(heartbeats.map(({ request }) => request.sessions.map(({ lockExpiryMs }) => lockExpiryMs))).toEqual([
      [LOCK_EXPIRY_MS],
      [LOCK_EXPIRY_MS],
      [LOCK_EXPIRY_MS],
    ]);
  });

  it('are sent at every beat, answered or not', async () => {
    const a = replicas.start('a', [job({ lockExpiryMs: 800 })], { network: { delayMs: 500 } });
    await replicas.clock.advance(10_000);
    const before = a.store.count('heartbeat');
    await replicas.clock.advance(2_000);
    expect(a.store.count('heartbeat') - before).toBe(10);
  });

  it('carry the end that the store confirmed last', async () => {
    const a = replicas.prepare('a', [job()]);
    const heartbeats = recordHeartbeats(a);
    a.pool.start();
    await replicas.clock.advance(6_000);
    const ends = heartbeats.map(({ request }) => request.sessions[0]?.confirmedEnd);
    expect(ends[0]).toBeUndefined();
    expect(ends.at(-1)).toBe(Date.UTC(2027, 0, 1) + 3_000 + LOCK_EXPIRY_MS);
  });

  it('know the version of the list and the server that it comes from', async () => {
    const a = replicas.prepare('a', [job()]);
    const heartbeats = recordHeartbeats(a);
    a.pool.start();
    await replicas.clock.advance(6_000);
    const { server } = replicas.server.snapshot();
    expect(heartbeats[0]?.request.knownList).toBeUndefined();
    expect(heartbeats.at(-1)?.request.knownList).toEqual({ version: server?.version, serverSince: server?.since });
  });

  it('get only what has changed in the list of sessions', async () => {
    const a = replicas.prepare('a', [job()]);
    const sizes: string[] = [];
    const heartbeat = a.store.heartbeat.bind(a.store);
    a.store.heartbeat = async (request) => {
      const { changes, ...result } = await heartbeat(request);
      sizes.push(`${String(a.clock.now())}: ${String(changes.size)}`);
      return { changes, ...result };
    };
    a.pool.start();
    await replicas.clock.advance(4_000);
    sizes.length = 0;
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(6_000);
    b.kill();
    await replicas.clock.advance(100_000);
    // b begins at 4 s and ends 10 s after its last heartbeat; that it is forgotten at 90 s is no change
    expect(sizes.filter((line) => !line.endsWith(': 0'))).toEqual(['6000: 1', '20001: 1']);
  });

  it('ask for the whole list at once when the store has lost sessions', async () => {
    const a = replicas.prepare('a', [job()]);
    const heartbeats = recordHeartbeats(a);
    a.pool.start();
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(5_000);
    b.kill();
    replicas.server.loseSessions();
    heartbeats.length = 0;
    await replicas.clock.advance(4_000);
    const asked = heartbeats.map(({ atMs, request }) => `${String(atMs)} ${request.knownList ? 'changes' : 'all'}`);
    expect(asked).toEqual(['6000 changes', '6000 all', '9000 changes']);
    expect(a.leadership.list.has('b.1@10000')).toBe(false);
    expect(a.leadership.list.livingCount()).toBe(1);
  });

  it('end when the replica stops, and so do its sessions', async () => {
    const a = replicas.start('a', [job(), job({ name: 'short', lockExpiryMs: 2_000 })]);
    await replicas.clock.advance(5_000);
    await a.pool.close();
    const sent = a.store.sent.length;
    await replicas.clock.advance(60_000);
    expect(a.store.sent).toHaveLength(sent);
    expect([...replicas.server.snapshot().sessions.values()].every(({ hasEnded }) => hasEnded)).toBe(true);
  });
});

describe('A session that has ended', () => {
  const replicas = useReplicas();

  it('is replaced at once when its own deadline passes, also if the store extended it', async () => {
    const a = replicas.start('a', [job()]);
    await replicas.clock.advance(4_000);
    // every heartbeat is carried out, and none is answered
    a.store.outcome = (request) => (request === 'heartbeat' ? 'answer-lost' : 'answered');
    await replicas.clock.advance(10_000);
    expect(leadership(a)).toEqual(['0 leadershipGained', '12000 leadershipLost expired']);
    a.store.outcome = () => 'answered';
    await replicas.clock.advance(1_000);
    expect(replicas.server.holderOf('tick')).toMatch(/^a\.2@10000#/);
  });

  it('is ended in the store when nothing runs under it, so that another replica leads', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 8_000) })]);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(4_000);
    a.store.outcome = (request) => (request === 'heartbeat' ? 'STORE_UNREACHABLE' : 'answered');
    await replicas.clock.advance(4_900);
    expect(a.store.count('endSession')).toBe(0);
    await replicas.clock.advance(100);
    expect(timesOf(b, 'leadershipGained')).toEqual([]);
    await replicas.clock.advance(10_000);
    // the run began at 9 s at the latest; its lease ended at 12 s
    expect(a.store.count('endSession')).toBe(1);
  });

  it('by the thread of a process that ends, but lives on after all, starts no run and aborts the one in flight', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 60_000, { obedient: true }) })]);
    await replicas.clock.advance(1_500);
    const term = a.pool.find('tick')?.active?.election.term;
    expect(term?.isValid()).toBe(true);
    const abortRuns = a.leadership.sessions.revoke();
    expect(term?.isValid()).toBe(false);
    abortRuns();
    await replicas.clock.advance(10);
    expect(a.observer.of('runCancelled')).toMatchObject([{ code: 'LEASE_LOST' }]);
  });

  it('does not affect the sessions of another lockExpiry', async () => {
    const a = replicas.start('a', [job(), job({ name: 'short', lockExpiryMs: 2_000 })]);
    const b = replicas.start('b', [job(), job({ name: 'short', lockExpiryMs: 2_000 })]);
    await replicas.clock.advance(4_000);
    a.store.partition();
    await replicas.clock.advance(3_500);
    a.store.heal();
    await replicas.clock.advance(30_000);
    expect(a.observer.of('leadershipLost').map((event) => event.job)).toEqual(['short']);
    expect(b.observer.of('leadershipGained').map((event) => event.job)).toEqual(['short']);
  });

  it('gives a process that was stopped for 30 s a new session, and nothing starts late', async () => {
    const a = replicas.start('a', [job({ schedule: interval(500), run: lasting(replicas.clock, 100) })]);
    await replicas.clock.advance(4_000);
    const startedBefore = a.observer.of('runStarted').length;
    await replicas.clock.block(30_000);
    await replicas.clock.advance(0);
    const [, lost, gained] = leadership(a);
    expect(lost).toBe('34000 leadershipLost expired');
    expect(gained).toBe('34000 leadershipGained');
    const tokens = a.observer.of('leadershipGained').map(({ fencingToken }) => fencingToken);
    const late = a.observer.of('runStarted').slice(startedBefore);
    expect(late.every(({ fencingToken }) => fencingToken === tokens[1])).toBe(true);
    expect(replicas.server.holderOf('tick')).toMatch(/^a\.2@10000#/);
  });
});

describe('The death of another replica', () => {
  const replicas = useReplicas();

  it.each([800, 10_000, 60_000])(
    'is noticed within milliseconds of the end of its session, with a lockExpiry of %i ms',
    async (lockExpiryMs) => {
      const a = replicas.start('a', [job({ lockExpiryMs })]);
      await replicas.clock.advance(70);
      const b = replicas.start('b', [job({ lockExpiryMs })]);
      await replicas.clock.advance(980);
      a.store.partition();
      const everyMs = Math.min(3_000, lockExpiryMs / 4);
      const lastMs = Math.floor(1_050 / everyMs) * everyMs;
      await replicas.clock.advance(lockExpiryMs + 1_000);
      expect(timesOf(b, 'leadershipGained')).toEqual([lastMs + lockExpiryMs + 1]);
    },
  );

  it('is noticed for each of its sessions by replicas with the same lockExpiry', async () => {
    const jobs = [job(), job({ name: 'short', lockExpiryMs: 2_000 })];
    const a = replicas.start('a', jobs);
    await replicas.clock.advance(70);
    const b = replicas.start('b', jobs);
    await replicas.clock.advance(1_130);
    a.store.partition();
    await replicas.clock.advance(20_000);
    // the last heartbeat was at 1 s
    expect(timesOf(b, 'leadershipGained')).toEqual([1_000 + 2_000 + 1, 1_000 + LOCK_EXPIRY_MS + 1]);
  });

  it.each([false, true])(
    'is covered by the life of the lock if the list was lost, also while replicas come and go: %s',
    async (comeAndGo) => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(29_900);
      a.kill();
      replicas.server.loseSessions();
      for (let n = 0; n < 30; n += 1) {
        if (comeAndGo) replicas.start(`c${String(n)}`, [job({ name: 'other' })]);
        await replicas.clock.advance(2_000);
      }
      const [gainedAt = Infinity] = timesOf(b, 'leadershipGained');
      // the last renewal was at 20 s
      expect(gainedAt).toBeGreaterThanOrEqual(55_000);
      expect(gainedAt).toBeLessThan(55_100);
    },
  );

  it('is not concluded because its session is not listed', async () => {
    replicas.server.occupy('tick', 'c.1@10000#1', 35_000);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(34_900);
    expect(timesOf(b, 'leadershipGained')).toEqual([]);
    await replicas.clock.advance(1_000);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(1);
  });
});

describe('A leader whose session is ended by the store', () => {
  const replicas = useReplicas();

  it('aborts its run and leads again under a new session once it has ended', async () => {
    const a = replicas.start('a', [
      job({ schedule: interval(1_000), run: lasting(replicas.clock, 20_000, { obedient: true }) }),
    ]);
    await replicas.clock.advance(4_000);
    replicas.server.endSession({ id: 'a.1@10000', lockExpiryMs: LOCK_EXPIRY_MS, confirmedEnd: undefined });
    await replicas.clock.advance(2_000);
    expect(a.observer.of('runCancelled')).toMatchObject([{ code: 'LEASE_LOST' }]);
    expect(leadership(a)).toEqual(['0 leadershipGained', '6000 leadershipLost expired', '6000 leadershipGained']);
    expect(replicas.server.holderOf('tick')).toMatch(/^a\.2@10000#/);
  });
});
