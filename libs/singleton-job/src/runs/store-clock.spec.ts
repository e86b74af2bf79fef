import { describe, expect, it } from '@jest/globals';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const STEP_MS = 600_000;
const HEARTBEAT_MS = 3_000;

const everyMinute = (): Job => job({ name: 'report', schedule: cron('* * * * *', { timeZone: 'UTC' }) });

const clockOf = (date: Date): string => date.toISOString().slice(11, 16);
const startsOf = (...replicas: TestReplica[]): string[] =>
  replicas.flatMap(({ observer }) => observer.of('runStarted').map(({ scheduledAt }) => clockOf(scheduledAt))).sort();
const missedOf = (...replicas: TestReplica[]): string[] =>
  replicas.flatMap(({ observer }) =>
    observer.of('occurrencesMissed').map(({ from, to, count }) => `(${clockOf(from)}, ${clockOf(to)}] ${count}`),
  );
const gainsOf = ({ observer }: TestReplica) => observer.of('leadershipGained').map(({ fencingToken }) => fencingToken);

describe('When the clock of Redis is stepped', () => {
  const replicas = useReplicas();

  /** A leader and a follower, whose own clocks go on as if nothing had happened. */
  async function stepped(byMs: number): Promise<readonly [TestReplica, TestReplica]> {
    const a = replicas.start('a', [everyMinute()]);
    await replicas.clock.advance(100);
    const b = replicas.start('b', [everyMinute()]);
    await replicas.clock.advance(80_000);
    replicas.clock.stepWall(byMs);
    for (const { clock } of [a, b]) clock.aheadMs = -byMs;
    return [a, b];
  }

  it('ahead, sessions end: the leader learns it from its next heartbeat', async () => {
    const [a, b] = await stepped(STEP_MS);
    await replicas.clock.advance(HEARTBEAT_MS + 100);
    expect(a.observer.of('leadershipLost')).toEqual([expect.objectContaining({ reason: 'expired' })]);
    const [before = NaN, after = NaN] = [...gainsOf(a), ...gainsOf(b)].sort((one, other) => one - other);
    expect(after).toBeGreaterThanOrEqual(before + STEP_MS);
  });

  it('ahead, the newest occurrence in between runs, and the others are reported once', async () => {
    const [a, b] = await stepped(STEP_MS);
    await replicas.clock.advance(120_000);
    // 00:01 before, and from 00:11:20 on by the clock of Redis
    expect(startsOf(a, b)).toEqual(['00:01', '00:11', '00:12', '00:13']);
    expect(missedOf(a, b)).toEqual(['(00:01, 00:10] 9']);
  });

  it('ahead while the leader is cut off, two replicas may lead, with different tokens', async () => {
    const [a, b] = await stepped(STEP_MS);
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(30_000);
    const gainedMs = b.observer.events.find(({ event }) => event === 'leadershipGained')?.atMs ?? NaN;
    const lostMs = a.observer.events.find(({ event }) => event === 'leadershipLost')?.atMs ?? NaN;
    expect(lostMs).toBeLessThan(gainedMs + 10_000);
    expect(gainsOf(b)[0]).toBeGreaterThan(gainsOf(a)[0] ?? NaN);
  });

  it('back, the leader continues, tokens grow, and no occurrence starts twice', async () => {
    const [a, b] = await stepped(-STEP_MS);
    await replicas.clock.advance(60_000);
    expect(a.observer.of('leadershipLost')).toEqual([]);
    await Promise.all([a.pool.stop(), replicas.clock.advance(HEARTBEAT_MS)]);
    expect(gainsOf(b)[0]).toBeGreaterThan(gainsOf(a)[0] ?? NaN);
    await replicas.clock.advance(STEP_MS);
    const started = startsOf(a, b);
    expect(new Set(started).size).toBe(started.length);
  });
});
