import { describe, expect, it } from '@jest/globals';
import { createReplicaId } from '../replica/index.js';
import { interval } from '../schedule/index.js';
import { type Outcome } from '../testing/replicas/faulty-store.js';
import { type ForwardedRequest } from '../testing/replicas/forwarding-store.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership, timesOf } from '../testing/specs/stories.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const once = interval(3_600_000);
const LOCK_EXPIRY_MS = 10_000;
const SAFE_DEADLINE_MS = 9_000;

/** When runs began, and when their signals fired. */
const cancelledAtMs = ({ observer }: TestReplica) =>
  observer.events.find(({ event }) => event === 'runCancelled')?.atMs ?? Infinity;

/** Public failures of other schedulers and lock libraries, each with what kept it from happening here. */
describe('Incidents of other systems', () => {
  const replicas = useReplicas();

  describe('River, whose slow but successful re-election stretched a term (#1213)', () => {
    it('a heartbeat that is answered late extends the lease from the time it was sent', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(2_900);
      let isFirst = true;
      a.store.delayMs = 5_000;
      a.store.outcome = (request) => {
        const isCarried = request === 'heartbeat' && isFirst;
        isFirst = false;
        return isCarried ? 'answered' : 'request-lost';
      };
      await replicas.clock.advance(20_000);
      // sent at 3 s, answered at 8 s
      expect(leadership(a)).toEqual(['0 leadershipGained', '12000 leadershipLost expired']);
      expect(Math.max(...timesOf(a, 'runStarted'))).toBeLessThan(3_000 + SAFE_DEADLINE_MS);
      expect(Math.min(...timesOf(b, 'runStarted'))).toBeGreaterThan(3_000 + LOCK_EXPIRY_MS);
    });
  });

  describe('River, where the late resignation of one term could end the next of the same client (#1213)', () => {
    it.each(['release', 'renew', 'acquire'] as const)(
      'a late %s of an earlier term does not change the next term of the same process',
      async (request) => {
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
        const answers = {
          release: () => replicas.server.release(late),
          renew: () => replicas.server.renew(late),
          acquire: () => replicas.server.acquire({ ...late, ...facts }),
        };
        expect(Object.values(answers[request]())).toContain(false);
        expect(replicas.server.holderOf('tick')).toBe(later);
        await replicas.clock.advance(60_000);
        expect(leadership(a).slice(-1)).toEqual([expect.stringMatching(/leadershipGained$/)]);
      },
    );
  });

  describe('Oban, where a node that had lost its lease renewed that of another for 19 days (#1488)', () => {
    it('a replica that lost the lock extends nothing, and learns of it at its next renewal', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(9_000);
      replicas.server.free('tick');
      replicas.server.occupy('tick', 'another', 5_000);
      await replicas.clock.advance(1_000);
      expect(leadership(a)).toEqual(['0 leadershipGained', '10000 leadershipLost preempted']);
      // until 14 s, as if nothing had been renewed
      await replicas.clock.advance(4_000);
      expect(replicas.server.holderOf('tick')).toBe('another');
      await replicas.clock.advance(100);
      expect(replicas.server.holderOf('tick')).not.toBe('another');
    });

    it.each<Outcome>(['STORE_UNREACHABLE', 'STORE_REFUSED_WRITE', 'STORE_MISCONFIGURED', 'request-lost'])(
      'a leader whose every request ends with %s has a valid lease until the deadline only',
      async (outcome) => {
        const a = replicas.start('a', [job()]);
        await replicas.clock.advance(100);
        a.store.outcome = () => outcome;
        await replicas.clock.advance(600_000);
        expect(leadership(a)).toEqual(['0 leadershipGained', '9000 leadershipLost expired']);
        expect(Math.max(...timesOf(a, 'runStarted'))).toBeLessThan(SAFE_DEADLINE_MS);
      },
    );
  });

  describe('Oban for Python, where processes of one node name renewed each other (oban-py #32)', () => {
    it('two processes with the same name have different holders', async () => {
      const a = replicas.start(createReplicaId('worker'), [job()]);
      const b = replicas.start(createReplicaId('worker'), [job()]);
      await replicas.clock.advance(30_500);
      expect(timesOf(a, 'runStarted')).toHaveLength(30);
      expect(timesOf(b, 'runStarted')).toEqual([]);
    });
  });

  describe('Redisson, whose watchdog renewed a lock that had been released (#7272)', () => {
    it('no renewal is sent after a release, and one under way does not restore the lock', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(9_900);
      const holder = replicas.server.holderOf('tick') ?? '';
      let arrive: () => void = () => undefined;
      a.store.answersAfter = new Promise((resolve) => (arrive = resolve));
      await replicas.clock.advance(150);
      expect(a.store.count('renew')).toBe(2);
      a.store.answersAfter = undefined;
      const stopped = a.supervisor.stop();
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

  describe('RedBeat, where a scheduler whose acquire failed ran on without the lock (#208)', () => {
    const acquiresEndWith = (outcome: Outcome) => (request: ForwardedRequest) =>
      request === 'acquire' ? outcome : 'answered';

    it.each<Outcome>(['STORE_UNREACHABLE', 'STORE_REFUSED_WRITE', 'STORE_MISCONFIGURED', 'request-lost'])(
      'a replica whose acquire request ends with %s runs nothing until the lock is granted',
      async (outcome) => {
        const a = replicas.start('a', [job()]);
        const b = replicas.start('b', [job()], { network: { outcome: acquiresEndWith(outcome) } });
        await replicas.clock.advance(60_500);
        const lines = b.observer.story.filter((line) => !line.includes('storeRecovered'));
        // the second is the reminder after a minute
        if (outcome !== 'request-lost') expect(lines).toHaveLength(2);
        expect(new Set(lines.map((line) => line.replace(/^\d+ /, ''))).size).toBe(1);
        expect(timesOf(a, 'runStarted')).toHaveLength(60);
        b.store.outcome = () => 'answered';
        await a.supervisor.stop();
        await replicas.clock.advance(45_000);
        expect(timesOf(b, 'runStarted').length).toBeGreaterThan(0);
      },
    );

    it('a store that throws instead of rejecting counts as unanswered', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      b.store.acquire = () => {
        throw new TypeError('no connection');
      };
      await replicas.clock.advance(60_500);
      expect(timesOf(b, 'runStarted')).toEqual([]);
      expect(timesOf(a, 'runStarted')).toHaveLength(60);
      Reflect.deleteProperty(b.store, 'acquire');
      await a.supervisor.stop();
      await replicas.clock.advance(15_000);
      expect(timesOf(b, 'runStarted').length).toBeGreaterThan(0);
    });
  });

  describe('client-go, whose release had no time limit of its own', () => {
    it('a release that is never answered delays the stop by 2 s at most, and half a second for the close', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(3_100);
      a.store.outcome = (request) => (request === 'release' ? 'request-lost' : 'answered');
      let hasStopped = false;
      void a.supervisor.close().then(() => (hasStopped = true));
      await replicas.clock.advance(2_500);
      // on each connection
      expect(a.store.count('release')).toBeGreaterThan(1);
      expect(hasStopped).toBe(true);
      await replicas.clock.advance(10_000);
      expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: false }]);
      expect(leadership(b)).toHaveLength(1);
    });
  });

  describe('Bull, which had one token for all jobs of a worker (#308)', () => {
    it('each acquire request has its own number, so no request affects another job', async () => {
      const a = replicas.start('a', [job(), job({ name: 'other' })]);
      await replicas.clock.advance(100);
      const [ours, theirs = ''] = ['tick', 'other'].map((name) => replicas.server.holderOf(name));
      expect(ours).not.toBe(theirs);
      const mistaken = { name: 'tick', holder: theirs, token: 0, lifeMs: 35_000, update: {} };
      expect(replicas.server.release(mistaken)).toMatchObject({ released: false });
      expect(replicas.server.renew(mistaken)).toMatchObject({ held: false });
      expect(replicas.server.holderOf('tick')).toBe(ours);
      await replicas.clock.advance(10_000);
      expect(a.observer.of('leadershipLost')).toEqual([]);
    });

    it('a slow worker learns that it lost its job before it can report its end', async () => {
      let assertLeader: () => void = () => undefined;
      const run = lasting(replicas.clock, 30_000);
      const a = replicas.start('a', [
        job({
          schedule: once,
          run: (given) => {
            assertLeader = () => {
              given.assertLeader();
            };
            return run(given);
          },
        }),
      ]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(100);
      a.store.outcome = (request) => (request === 'heartbeat' ? 'request-lost' : 'answered');
      await replicas.clock.advance(SAFE_DEADLINE_MS);
      expect(timesOf(b, 'runStarted')).toEqual([]);
      expect(assertLeader).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
      await replicas.clock.advance(60_000);
      const [first, second] = [a, b].map(({ observer }) => observer.of('runStarted')[0]?.fencingToken ?? 0);
      expect(second).toBeGreaterThan(first ?? Infinity);
    });
  });
});
