import { describe, expect, it } from '@jest/globals';
import { deferred } from '../../../../test/support/deferred.js';
import { job, lasting } from '../../../../test/support/fleet.js';
import { useFleet } from '../../../../test/support/use-fleet.js';
import { type Command } from '../../../../test/support/faulty-store.js';
import { settle } from '../testing/index.js';

/** Only who leads and why, without the runs. */
const leadership = (story: readonly string[]) => story.filter((line) => line.includes('leadership'));

describe('A leader election', () => {
  const fleet = useFleet();

  describe('in quiet times', () => {
    it('keeps one leader for as long as it renews', async () => {
      const a = fleet.start('a', [job()]);
      const b = fleet.start('b', [job()]);
      await fleet.clock.advance(3_600_000);
      expect(leadership(a.observer.story)).toEqual(['0 leadershipGained']);
      expect(b.observer.story).toEqual([]);
    });

    it('costs one renewal a heartbeat for the leader and one question a lockExpiry for a follower, and nothing for a tick', async () => {
      const a = fleet.start('a', [job({ lockExpiryMs: 10_000 })]);
      const b = fleet.start('b', [job({ lockExpiryMs: 10_000 })]);
      await fleet.clock.advance(300_000);
      expect(a.observer.of('runStarted')).toHaveLength(300);
      expect(a.store.sent).toHaveLength(1 + 100);
      expect(b.store.count('acquire')).toBeGreaterThanOrEqual(300 / 10);
      expect(b.store.count('acquire')).toBeLessThanOrEqual(300 / 7);
      expect(b.store.sent).toHaveLength(b.store.count('acquire'));
    });

    it('gives each job of a replica a leader of its own', async () => {
      const jobs = [job({ name: 'one' }), job({ name: 'two' })];
      const a = fleet.start('a', jobs);
      await settle();
      expect(a.observer.of('leadershipGained').map((event) => event.job)).toEqual(['one', 'two']);
    });

    it('gives every term a larger fencing token', async () => {
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(500);
      const b = fleet.start('b', [job()]);
      await a.supervisor.stop();
      await fleet.clock.advance(500);
      const tokens = [...a.observer.of('leadershipGained'), ...b.observer.of('leadershipGained')];
      expect(tokens).toHaveLength(2);
      expect(tokens[1]?.fencingToken).toBeGreaterThan(tokens[0]?.fencingToken ?? Infinity);
    });

    it('does not contend before the initial delay of the job has passed', async () => {
      const a = fleet.start('a', [job({ initialDelayMs: 5_000 })]);
      await fleet.clock.advance(4_999);
      expect(a.store.sent).toEqual([]);
      await fleet.clock.advance(1);
      expect(a.observer.story).toEqual(['5000 leadershipGained']);
    });
  });

  describe('when the leader stops', () => {
    it('has a follower lead at once, woken by the release', async () => {
      const a = fleet.start('a', [job()]);
      const b = fleet.start('b', [job()]);
      await fleet.clock.advance(1_500);
      await a.supervisor.stop();
      await fleet.clock.advance(0);
      expect(leadership(a.observer.story)).toEqual(['0 leadershipGained', '1500 leadershipReleased shutdown']);
      expect(b.observer.story).toEqual(['1500 leadershipGained']);
    });

    it('announces all its jobs with one message after the releases are confirmed', async () => {
      const names = Array.from({ length: 50 }, (_, index) => `job-${index}`);
      const a = fleet.start(
        'a',
        names.map((name) => job({ name })),
      );
      await fleet.clock.advance(100);
      await a.supervisor.stop();
      expect(a.store.count('release')).toBe(50);
      expect(a.store.sent.filter(({ command }) => command === 'announce')).toEqual([
        { command: 'announce', name: names.join(',') },
      ]);
    });

    it('does not miss a release that is told while the answer to a bid is on its way', async () => {
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(100);
      let arrive: () => void = () => undefined;
      const heldBack = new Promise<void>((resolve) => (arrive = resolve));
      const b = fleet.start('b', [job()], { network: { heldBack } });
      await fleet.clock.advance(500);
      await a.supervisor.stop();
      arrive();
      await fleet.clock.advance(0);
      expect(leadership(b.observer.story)).toEqual(['600 leadershipGained']);
    });

    it('has followers that cease to hear releases find out at a heartbeat', async () => {
      const a = fleet.start('a', [job({ lockExpiryMs: 600_000 })]);
      const b = fleet.start('b', [job({ lockExpiryMs: 600_000 })]);
      await fleet.clock.advance(10_500);
      b.store.deafen();
      await fleet.clock.advance(100);
      await a.supervisor.stop();
      await fleet.clock.advance(3_100);
      expect(leadership(b.observer.story)).toHaveLength(1);
    });

    it('has followers that hear releases again ask at once, for what they may have missed', async () => {
      const a = fleet.start('a', [job({ lockExpiryMs: 600_000 })]);
      const b = fleet.start('b', [job({ lockExpiryMs: 600_000 })]);
      await fleet.clock.advance(10_500);
      b.store.deafen();
      await fleet.clock.advance(100);
      await a.supervisor.stop();
      await fleet.clock.advance(100);
      b.store.hearAgain();
      await fleet.clock.advance(10);
      expect(leadership(b.observer.story)).toHaveLength(1);
    });

    it('spreads many followers that were woken at once', async () => {
      const a = fleet.start('a', [job()]);
      const others = Array.from({ length: 12 }, (_, index) =>
        fleet.start(`b${index}`, [job()], { random: () => (index + 1) / 13 }),
      );
      await fleet.clock.advance(100);
      // the first message of a sender cannot know how many hear it
      fleet.server.occupy('other', 'a#0');
      await a.store.announce('a', ['other']);
      const before = others.map((other) => other.store.count('acquire'));
      await a.supervisor.stop();
      await fleet.clock.advance(0);
      expect(others.filter((other, index) => other.store.count('acquire') > (before[index] ?? 0))).toEqual([]);
      await fleet.clock.advance(30);
      expect(others.flatMap((other) => other.observer.story.filter((line) => line.includes('Gained')))).toHaveLength(1);
    });
  });

  describe('when the leader vanishes', () => {
    it('has a follower lead as soon as the lock has expired', async () => {
      const a = fleet.start('a', [job()]);
      const b = fleet.start('b', [job()], { random: () => 0.5 });
      await fleet.clock.advance(4_000);
      // the last renewal was at 3000
      a.store.fate = () => 'lost';
      await fleet.clock.advance(12_000);
      expect(a.news().filter((line) => /leadership|Unreach/.test(line))).toEqual([
        '0 leadershipGained',
        '8250 storeUnreachable',
        '12000 leadershipLost expired',
      ]);
      const [gained] = leadership(b.observer.story);
      expect(gained).toMatch(/^130[0-3]\d leadershipGained$/);
    });

    it('ends the term of a leader whose lock was taken at the next heartbeat', async () => {
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(1_000);
      fleet.server.free('tick');
      const b = fleet.start('b', [job()]);
      await fleet.clock.advance(2_500);
      expect(leadership(a.observer.story)).toEqual(['0 leadershipGained', '3000 leadershipLost preempted']);
      expect(leadership(b.observer.story)).toEqual(['1000 leadershipGained']);
    });
  });

  describe('when answers are lost', () => {
    it('repeats a bid under its number, so that a grant whose answer was lost is a grant', async () => {
      let isFirst = true;
      const fate = (command: Command) => {
        const isLost = command === 'acquire' && isFirst;
        isFirst = false;
        return isLost ? 'unanswered' : 'carried';
      };
      const a = fleet.start('a', [job()], { network: { fate } });
      await fleet.clock.advance(2_000);
      expect(leadership(a.observer.story)).toEqual(['1500 leadershipGained']);
      expect(a.store.count('release')).toBe(0);
    });

    it('counts the lease of a repeated bid from the repeat that was answered', async () => {
      let isLost = true;
      const a = fleet.start('a', [job()], { network: { fate: () => (isLost ? 'unanswered' : 'carried') } });
      await fleet.clock.advance(1_100);
      isLost = false;
      await fleet.clock.advance(500);
      // granted at 1500
      a.store.fate = () => 'lost';
      await fleet.clock.advance(20_000);
      expect(leadership(a.observer.story)).toEqual(['1500 leadershipGained', '10500 leadershipLost expired']);
    });

    it('takes back a bid whose repeat waits its turn when the stop comes', async () => {
      let isLost = true;
      const fate = (command: Command) => (command === 'acquire' && isLost ? 'unanswered' : 'carried');
      const a = fleet.start('a', [job()], { network: { fate } });
      await fleet.clock.advance(1_100);
      isLost = false;
      const stopped = a.supervisor.stop();
      await fleet.clock.advance(600);
      await stopped;
      expect(fleet.server.holderOf('tick')).toBeUndefined();
    });

    it('leads by a grant that came too late, counted from the time it was sent', async () => {
      const a = fleet.start('a', [job()], { network: { delayMs: 1_200 } });
      await fleet.clock.advance(20_000);
      expect(leadership(a.observer.story)[0]).toMatch(/^1200 leadershipGained$/);
      expect(leadership(a.observer.story)).toHaveLength(1);
      expect(a.observer.of('runStarted').length).toBeGreaterThan(15);
    });

    it('renews a late grant at once where its lease may end before the next heartbeat', async () => {
      const hang = deferred<undefined>();
      let isFirst = true;
      const fate = () => {
        const isLost = !isFirst;
        isFirst = false;
        return isLost ? 'lost' : 'carried';
      };
      const a = fleet.start('a', [job()], { network: { fate, heldBack: hang.promise.then(() => undefined) } });
      await fleet.clock.advance(7_500);
      a.store.fate = () => 'carried';
      hang.resolve(undefined);
      await fleet.clock.advance(20_000);
      // half a second before its lease would have ended: by then the attempt under way has been given up
      expect(leadership(a.observer.story)).toEqual(['8500 leadershipGained']);
      expect(a.observer.of('runCancelled')).toEqual([]);
    });

    it('announces a release whose answer was lost', async () => {
      const jobs = [job(), job({ name: 'other' })];
      const a = fleet.start('a', jobs);
      const b = fleet.start('b', jobs);
      await fleet.clock.advance(100);
      let isFirst = true;
      a.store.fate = (command, name) => {
        if (command !== 'release' || name !== 'tick' || !isFirst) return 'carried';
        isFirst = false;
        return 'unanswered';
      };
      void a.supervisor.stop();
      await fleet.clock.advance(0);
      expect(b.observer.of('leadershipGained').map((event) => event.job)).toEqual(['other']);
      await fleet.clock.advance(1_700);
      expect(b.observer.of('leadershipGained').map((event) => event.job)).toEqual(['other', 'tick']);
    });

    it('takes back a bid that was given up in a stop', async () => {
      const fate = (command: Command) => (command === 'acquire' ? 'unanswered' : 'carried');
      const a = fleet.start('a', [job()], { network: { fate } });
      await fleet.clock.advance(100);
      const stopped = a.supervisor.stop();
      await fleet.clock.advance(1_500);
      await stopped;
      expect(a.observer.of('leadershipGained')).toEqual([]);
      const b = fleet.start('b', [job()]);
      await settle();
      expect(leadership(b.observer.story)).toHaveLength(1);
    });

    it('waits in a stop for a bid in flight and gives its grant back', async () => {
      let arrive: () => void = () => undefined;
      const heldBack = new Promise<void>((resolve) => (arrive = resolve));
      const a = fleet.start('a', [job()], { network: { heldBack } });
      await settle();
      let hasStopped = false;
      void a.supervisor.stop().then(() => (hasStopped = true));
      await fleet.clock.advance(500);
      expect(hasStopped).toBe(false);
      arrive();
      await settle();
      expect(hasStopped).toBe(true);
      expect(a.store.count('release')).toBe(1);
      expect(a.observer.story).toEqual([]);
    });

    it('frees a lock that a bid of its own process holds and nobody knows any more', async () => {
      fleet.server.occupy('tick', 'a#999', 60_000);
      const a = fleet.start('a', [job()]);
      await settle();
      expect(leadership(a.observer.story)).toEqual(['0 leadershipGained']);
    });

    it("leaves alone a lock of another process's", async () => {
      fleet.server.occupy('tick', 'b#999', 60_000);
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(59_000);
      expect(a.observer.story).toEqual([]);
    });
  });

  describe('when a run has not settled', () => {
    it('renews the lock in a stop until the run has settled, and only then releases it', async () => {
      const a = fleet.start('a', [job({ run: lasting(fleet.clock, 5_000) })]);
      await fleet.clock.advance(1_500);
      const stopped = a.supervisor.stop();
      const b = fleet.start('b', [job()]);
      await fleet.clock.advance(4_400);
      expect(a.store.count('renew')).toBe(1);
      expect(a.store.count('release')).toBe(0);
      expect(b.observer.story).toEqual([]);
      await fleet.clock.advance(100);
      await stopped;
      expect(leadership(a.observer.story).at(-1)).toBe('6000 leadershipReleased shutdown');
      expect(leadership(b.observer.story)).toEqual(['6000 leadershipGained']);
    });

    it('does not contend for a job whose run of a lost term still goes on', async () => {
      const a = fleet.start('a', [job({ run: lasting(fleet.clock, 30_000) })]);
      await fleet.clock.advance(1_500);
      fleet.server.free('tick');
      await fleet.clock.advance(25_000);
      expect(leadership(a.observer.story)).toEqual(['0 leadershipGained', '3000 leadershipLost preempted']);
      await fleet.clock.advance(5_000);
      expect(leadership(a.observer.story).at(-1)).toBe('31000 leadershipGained');
    });

    it('releases the lock of an expired term once its run has settled', async () => {
      const a = fleet.start('a', [job({ run: lasting(fleet.clock, 9_500), lockExpiryMs: 60_000 })]);
      const b = fleet.start('b', [job({ lockExpiryMs: 60_000 })]);
      await fleet.clock.advance(55_500);
      a.store.fate = (command) => (command === 'renew' ? 'unanswered' : 'carried');
      await fleet.clock.advance(54_000);
      expect(leadership(a.observer.story).at(-1)).toMatch(/leadershipLost expired/);
      await fleet.clock.advance(12_000);
      expect(leadership(b.observer.story)).toHaveLength(1);
    });
  });

  describe('when the store fails', () => {
    it('keeps its lease through an outage that is shorter, and tells it in two lines', async () => {
      const a = fleet.start('a', [job(), job({ name: 'other' })]);
      const b = fleet.start('b', [job(), job({ name: 'other' })]);
      await fleet.clock.advance(3_500);
      a.store.fate = b.store.fate = () => 'STORE_UNREACHABLE';
      await fleet.clock.advance(8_000);
      a.store.fate = b.store.fate = () => 'carried';
      await fleet.clock.advance(10_000);
      const told = a.observer.story.filter((line) => /leadership|store/.test(line));
      expect(told).toEqual([
        '0 leadershipGained',
        '0 leadershipGained',
        '6250 storeUnreachable',
        expect.stringMatching(/^11[5-9]\d\d storeRecovered$/),
      ]);
      expect(leadership(b.observer.story)).toEqual([]);
    });

    it('leads again within a second of the end of an outage that outlived the lease', async () => {
      const a = fleet.start('a', [job()]);
      const b = fleet.start('b', [job()]);
      await fleet.clock.advance(3_500);
      a.store.fate = b.store.fate = () => 'STORE_UNREACHABLE';
      await fleet.clock.advance(60_000);
      a.store.fate = b.store.fate = () => 'carried';
      await fleet.clock.advance(1_000);
      const gained = [...a.observer.of('leadershipGained'), ...b.observer.of('leadershipGained')];
      expect(gained).toHaveLength(2);
    });

    it('lets the others go on when a single job cannot be asked for', async () => {
      const names = Array.from({ length: 20 }, (_, index) => `job-${index}`);
      const jobs = names.map((name) => job({ name }));
      const a = fleet.start('a', jobs);
      await fleet.clock.advance(100);
      const b = fleet.start('b', jobs);
      b.store.fate = (_command, name) => (name === 'job-7' ? 'STORE_UNREACHABLE' : 'carried');
      await fleet.clock.advance(120_000);
      // nobody else was asking at first
      expect(b.observer.of('storeUnreachable').map((event) => event.job)).toEqual([undefined, 'job-7']);
      expect(b.store.sent.filter(({ name }) => name !== 'job-7').length).toBeLessThan(20 * (120 / 7 + 3));
      expect(b.store.sent.filter(({ name }) => name === 'job-7').length).toBeLessThan(250);
      expect(a.observer.of('leadershipLost')).toEqual([]);
    });

    it('is told twice a second of a full server, and leads as soon as there is room', async () => {
      const a = fleet.start('a', [job()], { network: { fate: () => 'STORE_REFUSED_WRITE' } });
      await fleet.clock.advance(60_000);
      expect(a.observer.story).toEqual(['0 storeMisconfigured']);
      expect(a.store.count('acquire')).toBeLessThanOrEqual(122);
      a.store.fate = () => 'carried';
      await fleet.clock.advance(1_000);
      expect(leadership(a.observer.story)).toHaveLength(1);
    });

    it('hurries for a release as ever after a full server has had room again', async () => {
      const a = fleet.start('a', [job(), job({ name: 'other' })]);
      await fleet.clock.advance(100);
      const b = fleet.start('b', [job(), job({ name: 'other' })], { network: { fate: () => 'STORE_REFUSED_WRITE' } });
      await fleet.clock.advance(2_000);
      b.store.fate = () => 'carried';
      await fleet.clock.advance(600_000);
      await a.supervisor.stop();
      await fleet.clock.advance(0);
      expect(leadership(b.observer.story)).toHaveLength(2);
    });

    it('asks without haste when it may not even take back a stray lock, and says so', async () => {
      fleet.server.occupy('tick', 'a#999', 60_000);
      const fate = (command: Command) => (command === 'release' ? 'STORE_MISCONFIGURED' : 'carried');
      const a = fleet.start('a', [job()], { network: { fate } });
      await fleet.clock.advance(59_000);
      expect(a.observer.of('storeMisconfigured')).toHaveLength(1);
      expect(a.store.sent.length).toBeLessThan(10);
    });

    it('says again what the store refuses when it had been mended in between', async () => {
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(1_500);
      for (let spell = 0; spell < 2; spell++) {
        a.store.fate = () => 'STORE_MISCONFIGURED';
        await fleet.clock.advance(60_000);
        a.store.fate = () => 'carried';
        await fleet.clock.advance(120_000);
      }
      expect(a.observer.of('storeMisconfigured')).toHaveLength(2);
    });

    it('says once what the store refuses, however often it is paused and resumed meanwhile', async () => {
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(1_500);
      for (const told of [1, 2]) {
        a.store.fate = () => 'STORE_MISCONFIGURED';
        for (let pause = 0; pause < 3; pause++) {
          await fleet.clock.advance(60_000);
          await Promise.all([a.supervisor.pause('tick'), fleet.clock.advance(60_000)]);
          a.supervisor.resume('tick');
        }
        await fleet.clock.advance(60_000);
        expect(a.observer.of('storeMisconfigured')).toHaveLength(told);
        a.store.fate = () => 'carried';
        await fleet.clock.advance(60_000);
      }
    });

    it('goes on for all jobs as soon as what a person had to mend is mended for one', async () => {
      const jobs = Array.from({ length: 5 }, (_, index) => job({ name: `job-${index}` }));
      const a = fleet.start('a', jobs, { network: { fate: () => 'STORE_MISCONFIGURED' }, random: () => Math.random() });
      await fleet.clock.advance(100_000);
      a.store.fate = () => 'carried';
      while (a.observer.of('leadershipGained').length === 0) await fleet.clock.advance(100);
      await fleet.clock.advance(100);
      expect(a.observer.of('leadershipGained')).toHaveLength(5);
    });

    it('does not give up a lease for an error that a person must mend, and says it once', async () => {
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(1_500);
      a.store.fate = () => 'STORE_MISCONFIGURED';
      await fleet.clock.advance(120_000);
      expect(a.observer.story.filter((line) => /leadership|store/.test(line))).toEqual([
        '0 leadershipGained',
        '3000 storeMisconfigured',
        '9000 leadershipLost expired',
      ]);
      // backing off: 3, 6, 12, 24 and then every 30 seconds less a fifth
      expect(a.store.count('acquire')).toBeLessThan(10);
    });
  });

  describe('when the lock is foreign', () => {
    it('asks at every heartbeat, since a foreign holder tells nobody when it releases', async () => {
      fleet.server.occupy('tick', 'somebody-else', 60_000);
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(12_500);
      // at the start, and at 3, 6, 9 and 12 seconds
      expect(a.store.count('acquire')).toBe(5);
      fleet.server.free('tick');
      await fleet.clock.advance(3_000);
      expect(leadership(a.observer.story)).toHaveLength(1);
    });

    it('reports a lock that would never expire, once, and leads when it has', async () => {
      fleet.server.occupy('tick', 'somebody-else');
      const a = fleet.start('a', [job()]);
      await fleet.clock.advance(10_100);
      expect(a.observer.story.slice(0, 2)).toEqual([
        '0 lockMended',
        expect.stringMatching(/^(9|10)\d{3} leadershipGained$/),
      ]);
    });
  });

  describe('when its runner breaks', () => {
    it('gives the term back, reports it, and stands back so that another replica can lead', async () => {
      const broken = {
        ...job().schedule,
        next: () => {
          throw new Error('no next tick');
        },
      } as ReturnType<typeof job>['schedule'];
      const a = fleet.start('a', [job({ schedule: broken })]);
      await settle();
      expect(a.observer.story).toEqual(['0 leadershipGained', '0 runnerFailed', '0 leadershipReleased runner-failed']);
      const b = fleet.start('b', [job()]);
      await fleet.clock.advance(7_000);
      expect(leadership(b.observer.story)).toHaveLength(1);
      expect(leadership(a.observer.story)).toHaveLength(2);
    });

    it('starts again with growing delays when nobody else leads', async () => {
      const broken = {
        ...job().schedule,
        next: () => {
          throw new Error('no next tick');
        },
      } as ReturnType<typeof job>['schedule'];
      const a = fleet.start('a', [job({ schedule: broken })], { random: () => 0.5 });
      await fleet.clock.advance(60_000);
      expect(a.observer.story.filter((line) => line.includes('Gained'))).toEqual([
        '0 leadershipGained',
        '6000 leadershipGained',
        '18000 leadershipGained',
        '42000 leadershipGained',
      ]);
    });
  });
});
