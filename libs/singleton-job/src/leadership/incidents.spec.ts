import { describe, expect, it } from '@jest/globals';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership, timesOf } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const once = interval(3_600_000);
const SAFE_DEADLINE_MS = 9_000;

/** When its run was aborted. */
const cancelledAtMs = ({ observer }: TestReplica) =>
  observer.events.find(({ event }) => event === 'runCancelled')?.atMs ?? Infinity;

/** Public failures of other schedulers and lock libraries, each with what kept it from happening here. */
describe('Incidents of other systems', () => {
  const replicas = useReplicas();

  describe('River, where a late request of one term could change the next of the same client (#1213)', () => {
    it('a late acquire of an earlier term does not change the next term of the same process', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(100);
      const earlier = replicas.server.holderOf('tick') ?? '';
      a.store.partition();
      await replicas.clock.advance(20_000);
      a.store.heal();
      await replicas.clock.advance(5_000);
      const later = replicas.server.holderOf('tick');
      expect(later).toMatch(/^a\./);
      expect(later).not.toBe(earlier);

      const late = { name: 'tick', holder: earlier, token: 0, lifeMs: 35_000, update: {} };
      const wait = { knownStateCreatedAt: undefined, notBefore: 0, isFirstStart: false, stateLifeMs: undefined };
      const facts = {
        seenToken: 0,
        endedSession: undefined,
        heartbeat: undefined,
        knownServerId: undefined,
        ...wait,
      };
      expect(replicas.server.acquire({ ...late, ...facts })).toMatchObject({ granted: false });
      expect(replicas.server.holderOf('tick')).toBe(later);
      await replicas.clock.advance(60_000);
      expect(leadership(a).slice(-1)).toEqual([expect.stringMatching(/leadershipGained$/)]);
    });
  });

  describe('Redisson, whose watchdog renewed a lock that had been released (#7272)', () => {
    it('no renewal is sent after a release, and one under way does not restore the lock', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(9_900);
      const holder = replicas.server.holderOf('tick') ?? '';
      const arrive = a.store.holdAnswers();
      await replicas.clock.advance(150);
      expect(a.store.count('renew')).toBe(2);
      a.store.answersAfter = undefined;
      const stopped = a.pool.stop();
      await replicas.clock.advance(0);
      arrive();
      await stopped;
      expect(replicas.server.holderOf('tick')).toBeUndefined();
      const late = { name: 'tick', holder, lifeMs: 35_000, update: {} };
      expect(replicas.server.renew(late)).toMatchObject({ held: false });
      await replicas.clock.advance(60_000);
      expect(a.store.count('renew')).toBe(2);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
    });
  });

  describe('Quartz, where a node was declared dead for a slow database, and its job ran twice at once', () => {
    it('a leader whose answers take long keeps its lease, and its run continues', async () => {
      const a = replicas.start('a', [
        job({ schedule: once, run: lasting(replicas.clock, 120_000, { obedient: true }) }),
      ]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(100);
      a.store.delayMs = 5_000;
      await replicas.clock.advance(130_000);
      expect(a.observer.of('runSucceeded')).toHaveLength(1);
      expect(timesOf(b, 'runStarted')).toEqual([]);
    });

    it.each([10_000, 30_000])(
      'a leader whose answers take %i ms ends its run before another can begin one',
      async (delayMs) => {
        const a = replicas.start('a', [
          job({ schedule: once, run: lasting(replicas.clock, 120_000, { obedient: true }) }),
        ]);
        const b = replicas.start('b', [job()]);
        await replicas.clock.advance(100);
        a.store.delayMs = delayMs;
        await replicas.clock.advance(130_000);
        expect(cancelledAtMs(a)).toBe(SAFE_DEADLINE_MS);
        expect(timesOf(b, 'runStarted').length).toBeGreaterThan(0);
        expect(Math.min(...timesOf(b, 'runStarted'))).toBeGreaterThan(cancelledAtMs(a));
      },
    );
  });
});
