import { describe, expect, it } from '@jest/globals';
import { job } from '../testing/specs/job.js';
import { timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { safetyNetMs } from './request-times.js';

const MIN = 60_000;
const HOUR = 60 * MIN;

describe('The safety net of a follower', () => {
  it.each([
    { followers: 0, jobs: 1, meanMs: MIN },
    { followers: 1, jobs: 1, meanMs: MIN },
    { followers: 2, jobs: 100, meanMs: 2 * MIN },
    { followers: 10, jobs: 100, meanMs: 10 * MIN },
    { followers: 500, jobs: 1, meanMs: 10 * MIN },
    { followers: 500, jobs: 2, meanMs: 10 * MIN },
    { followers: 500, jobs: 10, meanMs: 50 * MIN },
    { followers: 500, jobs: 100, meanMs: 500 * MIN },
    { followers: 500, jobs: 1_000, meanMs: 500 * MIN },
  ])('is $meanMs ms on average with $followers followers and $jobs jobs', ({ followers, jobs, meanMs }) => {
    expect(safetyNetMs({ followers, jobs }, () => 0.5)).toBe(meanMs);
    expect(safetyNetMs({ followers, jobs }, () => 0)).toBe(meanMs / 2);
  });

  it('sends at most a request a minute for each job, or 1.7 requests a second for all jobs', () => {
    for (const followers of [1, 2, 7, 50, 500, 2_000]) {
      for (const jobs of [1, 10, 100, 1_000]) {
        const perSecond = (followers * jobs * 1_000) / safetyNetMs({ followers, jobs }, () => 0.5);
        expect(perSecond).toBeLessThanOrEqual(Math.max(jobs / 60, 1.7));
      }
    }
  });
});

describe('After replicas with a long lockExpiry have died', () => {
  const replicas = useReplicas();
  const random = (): number => 0.5;

  /** A leader and a follower, beside the sessions of 20 dead replicas that have not ended. */
  const startPair = async () => {
    for (let n = 0; n < 20; n += 1) {
      const dead = replicas.start(`dead-${String(n)}`, [job({ name: 'long', lockExpiryMs: 24 * HOUR })], { random });
      await replicas.clock.advance(100);
      dead.kill();
    }
    const pair = [replicas.start('a', [job()], { random }), replicas.start('b', [job()], { random })] as const;
    await replicas.clock.advance(10_000);
    return pair;
  };

  it('the followers of another job still send a request a minute', async () => {
    const [, b] = await startPair();
    const before = b.store.count('acquire');
    await replicas.clock.advance(HOUR);
    expect(b.store.count('acquire') - before).toBe(60);
  });

  it('a replica leads within two heartbeats of a resume whose message is lost', async () => {
    const [a, b] = await startPair();
    const pausing = a.registry.pause('tick');
    await replicas.clock.advance(8_000);
    await pausing;
    a.store.losesMessages = b.store.losesMessages = true;
    void b.registry.resume('tick').catch(() => undefined);
    const resumedAt = replicas.clock.now();
    await replicas.clock.advance(6_200);
    const gained = [...timesOf(a, 'leadershipGained'), ...timesOf(b, 'leadershipGained')];
    expect(gained.filter((at) => at > resumedAt)).toHaveLength(1);
  });
});
