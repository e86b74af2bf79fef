import { describe, expect, it } from '@jest/globals';
import { cron } from '../schedule/cron/cron.js';
import { settle } from '../testing/index.js';
import { acquireRequest } from '../testing/lock-store-contract/requests.js';
import { type ForwardedRequest } from '../testing/replicas/forwarding-store.js';
import { job, lasting } from '../testing/specs/job.js';
import { leadership } from '../testing/specs/event-lines.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

/** Only who leads and why, without the runs. */

/** The answer to the first request of this kind is lost. */
function loseFirst(request: ForwardedRequest, outcome: 'request-lost' | 'answer-lost' = 'answer-lost') {
  let isFirst = true;
  return (sent: ForwardedRequest) => {
    if (sent !== request || !isFirst) return 'answered';
    isFirst = false;
    return outcome;
  };
}

const brokenSchedule = () =>
  ({
    ...job().schedule,
    next: () => {
      throw new Error('no next tick');
    },
  }) as ReturnType<typeof job>['schedule'];

describe('An election', () => {
  const replicas = useReplicas();

  describe('without failures', () => {
    it('keeps one leader for as long as it renews its lease', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(600_000);
      expect(leadership(a)).toEqual(['0 leadershipGained']);
      expect(b.observer.eventLines).toEqual([]);
    });

    it('sends a heartbeat per replica in 3 s, a renewal per job in 10 s, and nothing for a tick', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()], { random: () => 0.5 });
      await replicas.clock.advance(20_000);
      const before = [a, b].map(({ store }) => store.sent.length);
      await replicas.clock.advance(300_000);
      expect(a.observer.of('runStarted')).toHaveLength(320);
      const [sentByA = [], sentByB = []] = [a, b].map(({ store }, index) => store.sent.slice(before[index]));
      const count = (sent: typeof sentByA, request: ForwardedRequest) =>
        sent.filter((each) => each.request === request).length;
      expect(count(sentByA, 'heartbeat')).toBe(100);
      expect(count(sentByA, 'renew')).toBe(30);
      expect(sentByA).toHaveLength(130);
      expect(count(sentByB, 'heartbeat')).toBe(100);
      expect(count(sentByB, 'acquire')).toBe(5);
      expect(sentByB).toHaveLength(105);
    });

    it('gives each job of a replica a leader of its own', async () => {
      const jobs = [job({ name: 'one' }), job({ name: 'two' })];
      const a = replicas.start('a', jobs);
      await settle();
      expect(a.observer.of('leadershipGained').map((event) => event.job)).toEqual(['one', 'two']);
    });

    it('gives every term a larger fencing token', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(500);
      const b = replicas.start('b', [job()]);
      await a.pool.stop();
      await replicas.clock.advance(500);
      const tokens = [...a.observer.of('leadershipGained'), ...b.observer.of('leadershipGained')];
      expect(tokens).toHaveLength(2);
      expect(tokens[1]?.fencingToken).toBeGreaterThan(tokens[0]?.fencingToken ?? Infinity);
    });

    it('does not compete before the initial delay of the job has passed', async () => {
      const a = replicas.start('a', [job({ initialDelayMs: 5_000 })]);
      await replicas.clock.advance(4_999);
      expect(a.store.count('acquire')).toBe(0);
      await replicas.clock.advance(1);
      expect(a.observer.eventLines).toEqual(['5000 leadershipGained']);
    });
  });

  describe('when the leader stops', () => {
    it('has a follower lead at once, woken by the release', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(1_500);
      await a.pool.stop();
      await replicas.clock.advance(0);
      expect(leadership(a)).toEqual(['0 leadershipGained', '1500 leadershipReleased shutdown']);
      expect(b.observer.eventLines).toEqual(['1500 leadershipGained']);
    });

    it('renews the lock until the run has ended, and only then releases it', async () => {
      const a = replicas.start('a', [job({ run: lasting(replicas.clock, 12_000) })], {
        options: { shutdownTimeout: '20s' },
      });
      await replicas.clock.advance(1_500);
      const stopped = a.pool.stop();
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(11_400);
      // at the start, and after 10 s
      expect(a.store.count('renew')).toBe(2);
      expect(a.store.count('release')).toBe(0);
      expect(b.observer.eventLines).toEqual([]);
      await replicas.clock.advance(100);
      await stopped;
      expect(leadership(a).at(-1)).toBe('13000 leadershipReleased shutdown');
      expect(leadership(b)).toEqual(['13000 leadershipGained']);
    });

    it('lets the lock and the session expire if a run does not end', async () => {
      const a = replicas.start('a', [job({ run: lasting(replicas.clock, 60_000) })]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(3_500);
      const closed = a.pool.close();
      await replicas.clock.advance(8_000);
      await closed;
      expect([a.store.count('release'), a.store.count('endSession')]).toEqual([0, 0]);
      expect(leadership(a)).toEqual(['0 leadershipGained', '10500 leadershipReleased shutdown']);
      expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: false }]);
      await replicas.clock.advance(20_000);
      // the last heartbeat was at 9 s
      expect(leadership(b)).toEqual(['19001 leadershipGained']);
    });

    it('ends the session once all locks are released, so that no release message is needed', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(3_500);
      b.store.losesMessages = true;
      await a.pool.close();
      const commands = a.store.sent.map(({ request }) => request);
      expect(commands.slice(-2)).toEqual(['release', 'endSession']);
      await replicas.clock.advance(10_000);
      expect(leadership(b)).toEqual(['6000 leadershipGained']);
    });

    it('does not wait for the answer to an acquire request, and releases the lock', async () => {
      const a = replicas.start('a', [job()], { network: { delayMs: 300 } });
      await replicas.clock.advance(400);
      expect(a.store.count('acquire')).toBe(1);
      let hasStopped = false;
      void a.pool.stop().then(() => (hasStopped = true));
      await settle();
      expect(hasStopped).toBe(true);
      await replicas.clock.advance(600);
      expect([a.store.count('release'), a.store.count('renew')]).toEqual([1, 0]);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
      expect(a.observer.eventLines).toEqual([]);
    });

    it('releases the lock of an unanswered acquire request once it has a connection', async () => {
      const outcome = (request: ForwardedRequest) => (request === 'acquire' ? 'answer-lost' : 'answered');
      const a = replicas.start('a', [job()], { network: { outcome } });
      await replicas.clock.advance(100);
      expect(replicas.server.holderOf('tick')).toMatch(/^a\./);
      await a.pool.stop();
      await replicas.clock.advance(2_000);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
      expect(a.observer.of('leadershipGained')).toEqual([]);
    });
  });

  describe('when the leader vanishes', () => {
    it('has a follower lead lockExpiry after the last heartbeat', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(4_000);
      // the last heartbeat was at 3000
      a.store.partition();
      await replicas.clock.advance(12_000);
      expect(a.observer.eventLines.filter((line) => /leadership|Unreach/.test(line))).toEqual([
        '0 leadershipGained',
        '7500 storeUnreachable',
        '12000 leadershipLost expired',
      ]);
      expect(leadership(b)).toEqual(['13001 leadershipGained']);
    });

    it('ends the term of a leader whose lock was deleted and taken, as soon as it receives the grant', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(1_000);
      replicas.server.free('tick');
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(0);
      expect(leadership(a)).toEqual(['0 leadershipGained', '1000 leadershipLost preempted']);
      expect(leadership(b)).toEqual(['1000 leadershipGained']);
    });

    it('ends the term of a leader whose lock was deleted at its next renewal, if it receives no grant', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(1_000);
      a.store.unsubscribe();
      replicas.server.free('tick');
      replicas.start('b', [job()]);
      await replicas.clock.advance(9_000);
      expect(leadership(a)).toEqual(['0 leadershipGained', '10000 leadershipLost preempted']);
    });
  });

  describe('when answers are lost', () => {
    it('repeats an acquire request under its number, so that a grant whose answer was lost is a grant', async () => {
      const a = replicas.start('a', [job()], { network: { outcome: loseFirst('acquire') } });
      await replicas.clock.advance(2_000);
      // the connection is closed after 1500, and there is another after 1750
      expect(leadership(a)).toEqual(['1750 leadershipGained']);
      expect(a.store.count('acquire')).toBe(2);
      expect(a.store.count('release')).toBe(0);
    });

    it('counts the lease of a repeated request from the repeat that was answered', async () => {
      const a = replicas.start('a', [job({ lockExpiryMs: 100_000 })], { network: { outcome: loseFirst('acquire') } });
      await replicas.clock.advance(2_000);
      const [deadline] = [a.pool.find('tick')?.active?.election.term?.deadline.now];
      // that of the heartbeat at 1750
      expect(deadline).toBe(1_750 + 90_000);
    });

    it('leads by a late grant: the lease counts from the time of the request', async () => {
      const a = replicas.start('a', [job()], { network: { delayMs: 1_200 } });
      await replicas.clock.advance(20_000);
      // a heartbeat and a request
      expect(leadership(a)).toEqual(['2400 leadershipGained']);
      expect(a.observer.of('runStarted').length).toBeGreaterThan(15);
    });

    it('does not lead by a grant if its session has ended meanwhile', async () => {
      replicas.server.occupy('tick', 'another', 3_000);
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(2_999);
      const arrive = a.store.holdAnswers();
      await replicas.clock.advance(50);
      // granted
      expect(replicas.server.holderOf('tick')).toMatch(/^a\.1@/);
      replicas.server.endSession({ id: 'a.1@10000', lockExpiryMs: 10_000, confirmedEnd: undefined });
      await replicas.clock.advance(3_000);
      arrive();
      a.store.answersAfter = undefined;
      await replicas.clock.advance(10);
      const gained = a.observer.of('leadershipGained').length;
      expect(gained - a.observer.of('leadershipLost').length).toBe(1);
      expect(replicas.server.holderOf('tick')).toMatch(/^a\.2@/);
    });

    it('reports what it found also if its session ends between the grant and the start of the term', async () => {
      for (let turns = 0; turns < 20; turns++) {
        replicas.begin();
        const schedule = cron('* * * * *', { timeZone: 'UTC' });
        const lock = { name: 'tick', holder: 'b.1@10000#1', lifeMs: 35_000 };
        const now = replicas.clock.wallNow();
        replicas.server.acquire(acquireRequest(lock.holder, lock));
        const update = { handled: now - 60_000, claimed: now - 60_000, schedule: schedule.description };
        replicas.server.claim({ ...lock, token: 1, scheduledAt: now, update });
        replicas.server.release({ ...lock, token: 1, update: {} });
        const a = replicas.start('a', [job({ schedule })]);
        const session = a.leadership.sessions.of(10_000);
        const acquire = a.store.acquire.bind(a.store);
        a.store.acquire = async (request) => {
          const result = await acquire(request);
          // a heartbeat is answered in the same turn of the event loop
          void (async () => {
            for (let turn = 0; turn < turns; turn++) await Promise.resolve();
            session.end();
          })();
          return result;
        };
        await replicas.clock.advance(1_000);
        expect(a.observer.of('occurrencesMissed')).toMatchObject([{ reason: 'start-not-confirmed', count: 1 }]);
        const gained = a.observer.of('leadershipGained').length;
        expect([gained, a.observer.of('leadershipLost').length]).toEqual([gained, gained - 1]);
        await replicas.end();
      }
    });

    it('repeats a release whose answer was lost', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(100);
      a.store.outcome = loseFirst('release', 'request-lost');
      const stopped = a.pool.stop();
      await replicas.clock.advance(1_800);
      await stopped;
      expect(replicas.server.holderOf('tick')).toBeUndefined();
      expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: true }]);
    });
  });

  describe('when a run has not ended', () => {
    it('does not compete for a job while a run of a lost term continues', async () => {
      const a = replicas.start('a', [job({ run: lasting(replicas.clock, 30_000) })]);
      await replicas.clock.advance(1_500);
      replicas.server.free('tick');
      await replicas.clock.advance(25_000);
      expect(leadership(a)).toEqual(['0 leadershipGained', '10000 leadershipLost preempted']);
      await replicas.clock.advance(5_000);
      expect(leadership(a).at(-1)).toBe('31000 leadershipGained');
    });

    it('releases the lock of an expired term once its run has ended', async () => {
      const a = replicas.start('a', [job({ run: lasting(replicas.clock, 20_000) })]);
      await replicas.clock.advance(1_500);
      a.store.outcome = (request) => (request === 'heartbeat' ? 'STORE_MISCONFIGURED' : 'answered');
      await replicas.clock.advance(15_000);
      expect(leadership(a)).toEqual(['0 leadershipGained', '9000 leadershipLost expired']);
      expect(a.store.count('release')).toBe(0);
      await replicas.clock.advance(5_000);
      expect(a.store.count('release')).toBe(1);
      expect(replicas.server.holderOf('tick')).toBeUndefined();
    });
  });

  describe('when the store fails', () => {
    it('keeps its lease through an outage that is shorter, and logs two lines', async () => {
      const a = replicas.start('a', [job(), job({ name: 'other' })]);
      const b = replicas.start('b', [job(), job({ name: 'other' })]);
      await replicas.clock.advance(3_500);
      a.store.partition();
      b.store.partition();
      await replicas.clock.advance(7_000);
      a.store.heal();
      b.store.heal();
      await replicas.clock.advance(10_000);
      expect(a.observer.eventLines.filter((line) => /leadership|store/.test(line))).toEqual([
        '0 leadershipGained tick',
        '0 leadershipGained other',
        '7500 storeUnreachable',
        '10750 storeRecovered',
      ]);
      expect(leadership(b)).toEqual([]);
    });

    it('leads again within a second after an outage that was longer than the lease', async () => {
      const a = replicas.start('a', [job()]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(3_500);
      a.store.partition();
      b.store.partition();
      await replicas.clock.advance(60_000);
      a.store.heal();
      b.store.heal();
      await replicas.clock.advance(1_000);
      const gained = [...a.observer.of('leadershipGained'), ...b.observer.of('leadershipGained')];
      expect(gained).toHaveLength(2);
    });

    it('keeps the other jobs when the requests for one job fail', async () => {
      const names = Array.from({ length: 20 }, (_, index) => `job-${index}`);
      const jobs = names.map((name) => job({ name }));
      const a = replicas.start('a', jobs);
      await replicas.clock.advance(100);
      const b = replicas.start('b', jobs);
      b.store.outcome = (_command, name) => (name === 'job-7' ? 'STORE_UNREACHABLE' : 'answered');
      await replicas.clock.advance(120_000);
      expect(
        b.observer
          .of('storeUnreachable')
          .filter(({ outageMs }) => outageMs === 0)
          .map((event) => event.job),
      ).toEqual(['job-7']);
      // a heartbeat every 3 s, and 19 jobs twice a minute
      expect(b.store.sent.filter(({ name }) => name !== 'job-7').length).toBeLessThan(140);
      // every quarter of a second
      expect(b.store.sent.filter(({ name }) => name === 'job-7').length).toBeLessThanOrEqual(481);
      expect(a.observer.of('leadershipLost')).toEqual([]);
    });

    it('leads as soon as a full server has room again', async () => {
      const a = replicas.start('a', [job()], { network: { outcome: () => 'STORE_REFUSED_WRITE' } });
      await replicas.clock.advance(50_000);
      expect(a.observer.eventLines).toEqual(['0 requestDenied']);
      a.store.outcome = () => 'answered';
      await replicas.clock.advance(3_000);
      expect(leadership(a)).toHaveLength(1);
    });

    it('does not give up a lease for a heartbeat that is denied, before its deadline', async () => {
      const a = replicas.start('a', [job()]);
      await replicas.clock.advance(1_500);
      a.store.outcome = () => 'STORE_MISCONFIGURED';
      await replicas.clock.advance(50_000);
      expect(a.observer.eventLines.filter((line) => /leadership|store|request/.test(line))).toEqual([
        '0 leadershipGained',
        '3000 requestDenied',
        '9000 leadershipLost expired',
        '9000 requestDenied',
      ]);
      // of all jobs, and then the release of this one
      expect(a.observer.of('requestDenied').map(({ job: name }) => name)).toEqual([undefined, 'tick']);
    });
  });

  describe('when its runner fails', () => {
    it('releases the lock, reports it, and waits so that another replica can lead', async () => {
      const a = replicas.start('a', [job({ schedule: brokenSchedule() })]);
      await settle();
      expect(a.observer.eventLines).toEqual([
        '0 leadershipGained',
        '0 warning RUNNER_FAILED',
        '0 leadershipReleased runner-failed',
      ]);
      const b = replicas.start('b', [job()]);
      await replicas.clock.advance(7_000);
      expect(leadership(b)).toHaveLength(1);
      expect(leadership(a)).toHaveLength(2);
    });

    it('starts again with growing delays when no other replica leads', async () => {
      const a = replicas.start('a', [job({ schedule: brokenSchedule() })], { random: () => 0.5 });
      await replicas.clock.advance(60_000);
      expect(a.observer.eventLines.filter((line) => line.includes('Gained'))).toEqual([
        '0 leadershipGained',
        '6000 leadershipGained',
        '18000 leadershipGained',
        '42000 leadershipGained',
      ]);
    });
  });
});
