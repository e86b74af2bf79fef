import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { job } from '../testing/specs/job.js';
import { timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const HOUR = 3_600_000;
const random = () => 0.5;

describe('A job waits for its next leader', () => {
  const replicas = useReplicas();

  it('no longer than the new lockExpiry after a deploy that lowered it', async () => {
    const old = replicas.start('old', [job({ lockExpiryMs: HOUR })]);
    await replicas.clock.advance(1_000);
    const b = replicas.start('b', [job({ lockExpiryMs: 10_000 })]);
    await replicas.clock.advance(1_000);
    await old.pool.close();
    await replicas.clock.advance(2 * HOUR);
    const failedMs = replicas.clock.now();
    b.store.partition();
    await replicas.clock.advance(15_000);
    replicas.server.restart(replicas.server.snapshot());
    b.store.heal();
    await replicas.clock.advance(HOUR);
    expect((timesOf(b, 'leadershipGained')[1] ?? Infinity) - failedMs).toBeLessThan(26_000);
  });

  it.each([1_000, 10_000])(
    'no longer than the life of a restored lock of a replica that does not compete (%s ms)',
    async (lockExpiryMs) => {
      const jobs = () => [job({ lockExpiryMs })];
      const a = replicas.start('a', [...jobs(), job({ name: 'other', lockExpiryMs })], { random });
      await replicas.clock.advance(100);
      const [b, c] = [replicas.start('b', jobs(), { random }), replicas.start('c', jobs(), { random })];
      await replicas.clock.advance(30_000);
      const snapshot = replicas.server.snapshot();
      const removed = a.pool.remove('tick');
      await replicas.clock.advance(200);
      await removed;
      const restoredMs = replicas.clock.now();
      replicas.server.restart(snapshot);
      for (const { store } of [a, b, c]) store.reconnect();
      await replicas.clock.advance(600_000);
      const gained = [b, c].flatMap((replica) => timesOf(replica, 'leadershipGained')).filter((at) => at > restoredMs);
      expect(Math.min(...gained) - restoredMs).toBeLessThan(36_000);
    },
  );

  it.each([3, 6])('no longer than the life of a lock that one shard restored (%s replicas)', async (count) => {
    const c = replicas.start('c', [job(), job({ name: 'other' })], { random });
    await replicas.clock.advance(500);
    const others = Array.from({ length: count - 1 }, (_, i) => replicas.start(`r${i}`, [job()], { random }));
    await replicas.clock.advance(20_000);
    const oldHolder = replicas.server.holderOf('tick') ?? '';
    const removed = c.pool.remove('tick');
    await replicas.clock.advance(500);
    await removed;
    // the shard of the lock is not the server of the sessions, so no heartbeat shows its failover
    replicas.server.occupy('tick', oldHolder, 34_000);
    const restoredMs = replicas.clock.now();
    await replicas.clock.advance(900_000);
    const gained = others.flatMap((other) => timesOf(other, 'leadershipGained')).filter((at) => at > restoredMs);
    expect(Math.min(...gained) - restoredMs).toBeLessThan(36_000);
  });
});

describe('A leader whose lease is not valid', () => {
  const replicas = useReplicas();

  it('runs again after any answered heartbeat, also if one is never answered', async () => {
    const a = replicas.start('a', [job({ schedule: interval(1_000) })]);
    await replicas.clock.advance(10_100);
    a.clock.aheadMs = HOUR;
    const heartbeat = a.store.heartbeat.bind(a.store);
    let sent = 0;
    a.store.heartbeat = (request) => (sent++ === 0 ? new Promise(() => undefined) : heartbeat(request));
    await replicas.clock.advance(60_000);
    expect(timesOf(a, 'runStarted').filter((at) => at > 10_100).length).toBeGreaterThan(50);
  });
});
