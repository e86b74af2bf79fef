import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job } from '../testing/specs/job.js';
import { leadership, timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const JOBS = [job(), job({ name: 'other', schedule: interval(500) }), job({ name: 'short', lockExpiryMs: 2_000 })];
const GAINED = JOBS.map(() => expect.stringMatching(/leadershipGained/) as unknown);

/** When runs began on this replica, from a time on. */
const runsFrom = (replica: TestReplica, sinceMs: number) =>
  timesOf(replica, 'runStarted').filter((atMs) => atMs >= sinceMs);

describe('A leader with a heartbeat thread', () => {
  const replicas = useReplicas();

  /** One replica leads all jobs, another one follows. */
  async function start() {
    const a = replicas.start('a', JOBS, { hasThread: true });
    await replicas.clock.advance(100);
    const b = replicas.start('b', JOBS, { hasThread: true });
    await replicas.clock.advance(12_000);
    return { a, b };
  }

  /** Blocks the event loop of a replica. Its thread continues, unless the whole process is halted. */
  async function block({ clock, thread }: TestReplica, forMs: number, { isProcess = false } = {}) {
    clock.halt('paused');
    if (isProcess) thread?.clock.halt('paused');
    await replicas.clock.advance(forMs);
    const resumedAtMs = replicas.clock.now();
    if (isProcess) thread?.clock.resume();
    clock.resume();
    await replicas.clock.advance(0);
    return resumedAtMs;
  }

  it('sends no additional heartbeat while its event loop is not blocked', async () => {
    const { a, b } = await start();
    await replicas.clock.advance(60_000);
    expect([a.thread?.store.count('heartbeat'), b.thread?.store.count('heartbeat')]).toEqual([0, 0]);
  });

  it.each([5_000, 12_000, 18_000])(
    'keeps all its jobs while it is blocked for %i ms, and continues at once',
    async (forMs) => {
      const { a, b } = await start();
      const resumedAtMs = await block(a, forMs);
      expect(runsFrom(a, resumedAtMs).length).toBeGreaterThan(0);
      await replicas.clock.advance(20_000);
      expect(leadership(a)).toEqual(GAINED);
      expect(leadership(b)).toEqual([]);
      expect(timesOf(b, 'runStarted')).toEqual([]);
    },
  );

  it('keeps all its jobs through several blocks', async () => {
    const { a, b } = await start();
    for (let blocks = 0; blocks < 5; blocks++) {
      await block(a, 12_000);
      await replicas.clock.advance(blocks * 333);
    }
    expect([leadership(a), leadership(b)]).toEqual([GAINED, []]);
  });

  it('keeps its jobs if the block begins before its last heartbeat was answered', async () => {
    const long = [job({ lockExpiryMs: 9_000 })];
    const a = replicas.start('a', long, { hasThread: true, network: { delayMs: 100 } });
    const b = replicas.start('b', long, { hasThread: true, network: { delayMs: 100 } });
    await replicas.clock.advance(20_000);
    const before = a.store.count('heartbeat');
    while (a.store.count('heartbeat') === before) await replicas.clock.advance(10);
    await block(a, 12_000);
    expect([leadership(a).length, leadership(b)]).toEqual([1, []]);
  });

  it('is replaced if it is blocked for too long, and starts no late run', async () => {
    const { a, b } = await start();
    const resumedAtMs = await block(a, 40_000);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(3);
    expect(runsFrom(a, resumedAtMs)).toEqual([]);
    await replicas.clock.advance(20_000);
    expect(timesOf(a, 'leadershipLost')).toHaveLength(3);
  });

  it('is replaced if the whole process is halted, and starts no late run', async () => {
    const { a, b } = await start();
    const resumedAtMs = await block(a, 12_000, { isProcess: true });
    expect(timesOf(b, 'leadershipGained')).toHaveLength(3);
    expect(runsFrom(a, resumedAtMs)).toEqual([]);
  });

  it('is replaced if its host was suspended, and starts no late run', async () => {
    const { a, b } = await start();
    a.clock.halt('suspended');
    a.thread?.clock.halt('suspended');
    await replicas.clock.advance(12_000);
    const resumedAtMs = replicas.clock.now();
    a.clock.resume();
    a.thread?.clock.resume();
    await replicas.clock.advance(0);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(3);
    expect(runsFrom(a, resumedAtMs)).toEqual([]);
    await replicas.clock.advance(20_000);
  });

  it('keeps its term after a restart of Redis during a block, once its lock is confirmed', async () => {
    const { a, b } = await start();
    a.clock.halt('paused');
    await replicas.clock.advance(4_000);
    replicas.server.restart(replicas.server.snapshot());
    await replicas.clock.advance(3_000);
    a.clock.resume();
    await replicas.clock.advance(20_000);
    const long = ({ observer }: TestReplica) =>
      observer.of('leadershipLost').filter(({ job: name }) => name !== 'short');
    expect(long(a)).toEqual([]);
    expect(b.observer.of('leadershipGained').filter(({ job: name }) => name !== 'short')).toEqual([]);
  });

  it('loses its leases if Redis restarts early in a long block', async () => {
    const { a, b } = await start();
    a.clock.halt('paused');
    await replicas.clock.advance(1_000);
    replicas.server.restart(replicas.server.snapshot());
    await replicas.clock.advance(15_000);
    const resumedAtMs = replicas.clock.now();
    a.clock.resume();
    await replicas.clock.advance(0);
    expect(runsFrom(a, resumedAtMs)).toEqual([]);
    await replicas.clock.advance(20_000);
    expect(timesOf(b, 'leadershipGained')).toHaveLength(3);
  });

  it('renews its locks at once after the list of sessions was lost during a block', async () => {
    const { a, b } = await start();
    a.clock.halt('paused');
    await replicas.clock.advance(5_000);
    replicas.server.loseSessions();
    // and with it one of the locks
    replicas.server.free('other');
    await replicas.clock.advance(2_000);
    const before = a.store.count('renew');
    a.clock.resume();
    await replicas.clock.advance(100);
    expect(a.store.count('renew') - before).toBeGreaterThanOrEqual(2);
    expect(a.observer.of('leadershipLost').map(({ job: name }) => name)).toContain('other');
    expect(a.observer.of('leadershipLost').map(({ job: name }) => name)).not.toContain('tick');
    expect(b.observer.of('leadershipGained').map(({ job: name }) => name)).not.toContain('tick');
  });

  it('ends its sessions when it stops, and its thread stops sending', async () => {
    const { a } = await start();
    const stopped = a.pool.close();
    await replicas.clock.advance(10_000);
    await stopped;
    await block(a, 12_000);
    expect(a.thread?.store.count('heartbeat')).toBe(0);
  });
});
