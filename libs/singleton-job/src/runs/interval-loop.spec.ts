import { type JobRun } from '../jobs/job-run.js';
import { describe, expect, it } from '@jest/globals';
import { seenRecord } from '../leadership/record.js';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { job, lasting } from '../../../../test/support/job.js';
import { timesOf } from '../../../../test/support/event-lines.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const runs = (lines: readonly string[]) => lines.filter((line) => /run/.test(line));

describe('An interval job', () => {
  const replicas = useReplicas();

  it('runs at once on a new leader, and then waits from the end of each run', async () => {
    const a = replicas.start('a', [job({ schedule: interval(1_000), run: lasting(replicas.clock, 300) })]);
    await replicas.clock.advance(3_000);
    expect(runs(a.observer.eventLines)).toEqual([
      '0 runStarted schedule',
      '300 runSucceeded schedule',
      '1300 runStarted schedule',
      '1600 runSucceeded schedule',
      '2600 runStarted schedule',
      '2900 runSucceeded schedule',
    ]);
  });

  it('keeps the delay across leaders', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000) })]);
    await replicas.clock.advance(10_000);
    const b = replicas.start('b', [job({ schedule: interval(60_000) })]);
    await a.pool.stop();
    await replicas.clock.advance(55_000);
    expect(a.observer.of('runStarted')).toHaveLength(1);
    expect(runs(b.observer.eventLines)).toEqual(['60000 runStarted schedule', '60000 runSucceeded schedule']);
  });

  it('writes the end of a run within 10 s if its delay is short', async () => {
    const a = replicas.start('a', [job({ schedule: interval(1_000) })]);
    await replicas.clock.advance(9_900);
    expect(a.observer.of('runSucceeded')).toHaveLength(10);
    expect(a.store.count('compareAndSet')).toBe(1);
  });

  it('keeps the delay when the leader was killed, by its last renewal', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000) })]);
    const b = replicas.start('b', [job({ schedule: interval(60_000) })]);
    await replicas.clock.advance(10_000);
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(55_000);
    expect(a.observer.of('runStarted')).toHaveLength(1);
    expect(runs(b.observer.eventLines)).toEqual(['60000 runStarted schedule', '60000 runSucceeded schedule']);
  });

  it('keeps a long delay when the leader is killed right after its run', async () => {
    const hour = 3_600_000;
    const a = replicas.start('a', [job({ schedule: interval(hour), run: lasting(replicas.clock, 100) })]);
    const b = replicas.start('b', [job({ schedule: interval(hour) })]);
    await replicas.clock.advance(200);
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(hour - 200);
    expect(b.observer.of('leadershipGained')).toHaveLength(1);
    expect(b.observer.of('runStarted')).toEqual([]);
    await replicas.clock.advance(200);
    expect(b.observer.of('runStarted')).toHaveLength(1);
  });

  describe('whose leader is killed', () => {
    /** A run at once, which ends at once, and one of 5 minutes that begins after 20 s. */
    async function killedAfter(forMs: number) {
      let begun = 0;
      const long = lasting(replicas.clock, 300_000);
      const a = replicas.start('a', [
        job({ schedule: interval(20_000), run: (run) => (begun++ === 0 ? undefined : long(run)) }),
      ]);
      const b = replicas.start('b', [job({ schedule: interval(20_000) })]);
      await replicas.clock.advance(forMs);
      a.store.partition();
      await replicas.clock.advance(60_000);
      return b;
    }

    it('in a run, counts from the takeover', async () => {
      const b = await killedAfter(30_500);
      expect(b.observer.eventLines).toContain('40000 leadershipGained');
      expect(timesOf(b, 'runStarted')[0]).toBe(60_000);
    });

    it('with a short delay, also counts from the takeover', async () => {
      const a = replicas.start('a', [job({ schedule: interval(8_000), run: lasting(replicas.clock, 1_000) })]);
      const b = replicas.start('b', [job({ schedule: interval(8_000) })]);
      await replicas.clock.advance(18_150);
      // in its third run, which began at 18 s, after the heartbeat of that moment was sent
      a.kill();
      await replicas.clock.advance(30_000);
      expect(runs(b.observer.eventLines)[0]).toBe('36000 runStarted schedule');
    });

    it('keeps the delay also across a leader that hands over before its first run', async () => {
      const a = replicas.start('a', [job({ schedule: interval(8_000), run: lasting(replicas.clock, 1_000) })]);
      const b = replicas.start('b', [job({ schedule: interval(8_000) })]);
      await replicas.clock.advance(18_150);
      a.kill();
      await replicas.clock.advance(12_000);
      expect(b.observer.of('leadershipGained')).toHaveLength(1);
      const c = replicas.start('c', [job({ schedule: interval(8_000) })]);
      await Promise.all([b.pool.close(), replicas.clock.advance(20_000)]);
      expect(runs(c.observer.eventLines)[0]).toBe('36000 runStarted schedule');
    });

    it.each([
      [
        'kills its process',
        (a: TestReplica) =>
          void replicas.clock.setTimer(1_000, () => {
            a.kill();
          }),
      ],
      [
        'blocks its event loop',
        (a: TestReplica) => {
          a.clock.halt('paused');
          replicas.clock.setTimer(25_000, () => {
            a.clock.resume();
          });
        },
      ],
    ])('by a run that %s, waits one delay', async (_what, hurt) => {
      const hour = 3_600_000;
      let isArmed = false;
      const all = ['a', 'b', 'c'].map((name): TestReplica => {
        const run = () => {
          if (!isArmed) return undefined;
          hurt(replica);
          return new Promise<void>((resolve) => replicas.clock.setTimer(25_000, resolve));
        };
        const replica: TestReplica = replicas.start(name, [job({ schedule: interval(hour + 1_500), run })]);
        return replica;
      });
      await replicas.clock.advance(60_000);
      isArmed = true;
      await replicas.clock.advance(hour + 300_000);
      expect(all.flatMap((replica) => timesOf(replica, 'runStarted')).filter((at) => at > 60_000)).toHaveLength(1);
    });

    it('between two runs with a long delay, counts from the end of the last one', async () => {
      const b = await killedAfter(19_000);
      expect(b.observer.eventLines).toContain('28000 leadershipGained');
      expect(runs(b.observer.eventLines)[0]).toBe('28000 runStarted schedule');
    });
  });

  it('keeps the delay after the run of another leader that was never recorded, also if a run of its own ended meanwhile', async () => {
    const jobs = (firstMs: number) => {
      let runs = 0;
      const run = (given: JobRun) => lasting(replicas.clock, runs++ === 0 ? firstMs : 1)(given);
      return [job({ schedule: interval(7_900), run })];
    };
    const a = replicas.start('a', jobs(18_000));
    await replicas.clock.advance(100);
    const b = replicas.start('b', jobs(1));
    a.store.partition();
    await replicas.clock.advance(12_000);
    a.store.heal();
    await replicas.clock.advance(4_400);
    b.store.partition();
    await replicas.clock.advance(40_000);
    const lastOfB = timesOf(b, 'runStarted').at(-1) ?? NaN;
    expect(timesOf(a, 'runStarted').at(1)).toBeGreaterThanOrEqual(lastOfB + 7_900);
    b.store.heal();
  });

  it('keeps the delay across its own lost term whose run was never recorded', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000), run: lasting(replicas.clock, 5_000) })]);
    await replicas.clock.advance(3_500);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    await replicas.clock.advance(20_000);
    a.store.outcome = () => 'answered';
    await replicas.clock.advance(60_000);
    expect(runs(a.observer.eventLines).slice(2)).toEqual(['65000 runStarted schedule', '70000 runSucceeded schedule']);
  });

  it('runs at once when the delay has passed before a replica led', async () => {
    const a = replicas.start('a', [job({ schedule: interval(5_000) })]);
    await replicas.clock.advance(1_000);
    await a.pool.stop();
    await replicas.clock.advance(30_000);
    const b = replicas.start('b', [job({ schedule: interval(5_000) })]);
    await replicas.clock.advance(1_000);
    expect(runs(b.observer.eventLines)).toEqual(['31000 runStarted schedule', '31000 runSucceeded schedule']);
  });

  it('counts a changed delay from the end of the last run too', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000) })]);
    await replicas.clock.advance(1_000);
    await a.pool.stop();
    const b = replicas.start('b', [job({ schedule: interval(30_000) })]);
    await replicas.clock.advance(40_000);
    expect(runs(b.observer.eventLines)[0]).toBe('30000 runStarted schedule');
  });

  it('waits no longer than its delay after the clock of the store was set back', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000) })]);
    await replicas.clock.advance(130_000);
    const b = replicas.start('b', [job({ schedule: interval(60_000) })]);
    await replicas.clock.advance(1_000);
    replicas.clock.stepWall(-3_600_000);
    await a.pool.stop();
    await replicas.clock.advance(61_000);
    expect(runs(b.observer.eventLines)).toContain('191000 runStarted schedule');
  });

  it('records the start of a run with a long delay before its method is called', async () => {
    let recordedAt: number | undefined;
    const run = () =>
      (recordedAt = seenRecord(replicas.server.snapshot().records.get('tick:lock')).value?.run?.startedAt);
    replicas.start('a', [job({ schedule: interval(20_000), run })]);
    await replicas.clock.advance(1);
    expect(recordedAt).toBe(replicas.clock.wallNow() - 1);
  });

  it('runs although it is stopped while the start is recorded', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000) })], { network: { delayMs: 5 } });
    await replicas.clock.advance(10_000);
    const b = replicas.start('b', [job({ schedule: interval(60_000) })]);
    const [endedAt = NaN] = timesOf(a, 'runSucceeded');
    await replicas.clock.advance(endedAt + 60_002 - replicas.clock.now());
    await Promise.all([a.pool.close(), replicas.clock.advance(50_000)]);
    expect(timesOf(a, 'runStarted')).toHaveLength(2);
    expect(timesOf(b, 'runStarted')).toHaveLength(0);
  });

  it('is due when it was, however long its start is recorded', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000) })]);
    await replicas.clock.advance(30_000);
    a.store.delayMs = 200;
    await replicas.clock.advance(31_000);
    const [, run] = a.observer.of('runStarted');
    expect(run?.scheduledAt).toEqual(new Date('2027-01-01T00:01:00Z'));
  });

  it('keeps the delay after a stop whose message is lost', async () => {
    const a = replicas.start('a', [job({ schedule: interval(600_000) })]);
    await replicas.clock.advance(10_000);
    const b = replicas.start('b', [job({ schedule: interval(600_000) })], { network: { losesMessages: true } });
    await replicas.clock.advance(585_200);
    await Promise.all([a.pool.close(), replicas.clock.advance(10_000)]);
    expect(runs(b.observer.eventLines)[0]).toBe('600000 runStarted schedule');
  });

  it('runs also while its leader changes more often than its delay after the clock of the store was set back', async () => {
    const jobs = () => [job({ schedule: interval(60_000) })];
    let leader = replicas.start('r0', jobs());
    await replicas.clock.advance(90_000);
    replicas.clock.stepWall(-3_600_000);
    let runsAfter = 0;
    for (let n = 1; n <= 10; n += 1) {
      const next = replicas.start(`r${String(n)}`, jobs());
      await replicas.clock.advance(1_000);
      await Promise.all([leader.pool.close(), replicas.clock.advance(54_000)]);
      runsAfter += next.observer.of('runStarted').length;
      leader = next;
    }
    expect(runsAfter).toBeGreaterThanOrEqual(7);
  });

  it('is not disturbed by a wall clock that steps', async () => {
    const a = replicas.start('a', [job({ schedule: interval(1_000) })]);
    await replicas.clock.advance(500);
    a.clock.aheadMs = -3_600_000;
    await replicas.clock.advance(3_000);
    expect(a.observer.of('runStarted')).toHaveLength(4);
  });

  it('waits for an answer before a run if the wall clock is past the deadline', async () => {
    const a = replicas.start('a', [job({ schedule: interval(1_000) })]);
    await replicas.clock.advance(500);
    a.clock.aheadMs = 60_000;
    const arrive = a.store.holdAnswers();
    await replicas.clock.advance(1_000);
    expect(a.observer.of('runStarted')).toHaveLength(1);
    arrive();
    await replicas.clock.advance(200);
    expect(runs(a.observer.eventLines).slice(2)).toEqual(['1500 runStarted schedule', '1500 runSucceeded schedule']);
  });

  it('does not start a claimed run after a suspension until the lease is confirmed', async () => {
    const a = replicas.start('a', [job({ schedule: interval(60_000) })]);
    await replicas.clock.advance(59_000);
    a.store.delayMs = 500;
    await replicas.clock.advance(1_100);
    replicas.clock.stepWall(20_000);
    await replicas.clock.advance(800);
    expect(a.observer.of('runStarted')).toHaveLength(1);
  });

  it('counts no delay from a run whose method was never called', async () => {
    let sleeps = 1;
    const slow = {
      runStarted: () => {
        if (sleeps-- > 0) a.clock.aheadMs = 20_000;
      },
    };
    let calls = 0;
    const a = replicas.start('a', [job({ schedule: interval(86_400_000), run: () => calls++ })], { observers: [slow] });
    await replicas.clock.advance(1);
    expect(a.observer.of('runCancelled')).toHaveLength(1);
    await replicas.clock.advance(60_000);
    expect(calls).toBe(1);
  });
});
