import { describe, expect, it } from '@jest/globals';
import { cron } from '../schedule/cron/cron.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { job } from '../../../../test/support/job.js';
import { timesOf } from '../../../../test/support/event-lines.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const everyMinute = (overrides: Parameters<typeof job>[0] = {}) =>
  job({ schedule: cron('* * * * *', { timeZone: 'UTC' }), ...overrides });

const occurrencesOf = (...replicas: TestReplica[]): string[] =>
  replicas.flatMap(({ name, observer }) =>
    observer.of('runStarted').map(({ scheduledAt }) => `${name} ${clockOf(scheduledAt)}`),
  );
const missedOf = (...replicas: TestReplica[]): string[] =>
  replicas.flatMap(({ name, observer }) =>
    observer
      .of('occurrencesMissed')
      .map(({ reason, from, to, count }) => `${name} ${reason} (${clockOf(from)}, ${clockOf(to)}] ${count}`),
  );
const clockOf = (date: Date) => date.toISOString().slice(11, 19);

describe('When Redis restarts or loses its data', () => {
  const replicas = useReplicas();

  /** A leader and a follower. */
  async function leaderAndFollower(of = job): Promise<readonly [TestReplica, TestReplica]> {
    const a = replicas.start('a', [of()]);
    await replicas.clock.advance(500);
    const b = replicas.start('b', [of()]);
    await replicas.clock.advance(2_000);
    return [a, b];
  }

  it('the wait ends after one lockExpiry, also if the clock of Redis is set back', async () => {
    const [a, b] = await leaderAndFollower();
    a.store.partition();
    replicas.server.loseData();
    // its next heartbeat notices it
    const sent = b.store.count('sync');
    while (b.store.count('sync') === sent) await replicas.clock.advance(1);
    const since = replicas.clock.now();
    replicas.clock.stepWall(-3_600_000);
    for (const { clock } of [a, b]) clock.aheadMs = 3_600_000;
    await replicas.clock.advance(30_000);
    expect(timesOf(b, 'leadershipGained')[0]).toBeGreaterThanOrEqual(since + 10_000);
    expect(timesOf(b, 'leadershipGained')[0]).toBeLessThan(since + 14_000);
  });

  describe('a cron job', () => {
    it('reports the occurrences around it once, and starts none of them', async () => {
      const [a, b] = await leaderAndFollower(everyMinute);
      await replicas.clock.advance(52_000);
      a.store.partition();
      replicas.server.loseData();
      await replicas.clock.advance(120_000);
      expect(missedOf(a, b)).toEqual([expect.stringMatching(/^b data-lost \(00:00:00, 00:01:0\d\] 1$/)]);
      expect(occurrencesOf(a, b)).toEqual(['b 00:02:00']);
    });

    it('reports a claim without a run, although Redis lost it', async () => {
      const [a, b] = await leaderAndFollower(everyMinute);
      await replicas.clock.advance(57_400);
      // the claim is carried out, and its leader dies before the answer
      a.store.outcome = (request) => (request === 'compareAndSet' ? 'answer-lost' : 'request-lost');
      await replicas.clock.advance(5_000);
      replicas.server.loseData();
      await replicas.clock.advance(60_000);
      expect(b.observer.of('runInterrupted')).toMatchObject([{ by: 'a' }]);
      expect(missedOf(a, b)).toEqual([]);
      expect(occurrencesOf(a, b)).toEqual(['b 00:02:00']);
    });

    it('starts no occurrence again that was claimed after the snapshot', async () => {
      const [a, b] = await leaderAndFollower(everyMinute);
      await replicas.clock.advance(50_000);
      const snapshot = replicas.server.snapshot();
      await replicas.clock.advance(7_600);
      a.store.partition();
      replicas.server.restart(snapshot);
      await replicas.clock.advance(40_000);
      expect(occurrencesOf(a, b)).toEqual(['a 00:01:00']);
      expect(missedOf(a, b)).toEqual(['b data-lost (00:00:00, 00:01:00] 1']);
    });

    it('starts occurrences that come due after it was noticed', async () => {
      const [a, b] = await leaderAndFollower(everyMinute);
      await replicas.clock.advance(52_000);
      a.store.partition();
      replicas.server.restart(replicas.server.snapshot());
      await replicas.clock.advance(30_000);
      expect(occurrencesOf(a, b)).toEqual(['b 00:01:00']);
      expect(missedOf(a, b)).toEqual([]);
    });

    it.each([
      ['its data is lost', () => undefined],
      ['an old snapshot comes back', () => replicas.server.snapshot()],
    ])('loses nothing while its leader continues: %s', async (_, remember) => {
      const [a, b] = await leaderAndFollower(everyMinute);
      const snapshot = remember();
      // the restart is noticed by the claim at 00:02:00
      await replicas.clock.advance(117_000);
      if (snapshot === undefined) replicas.server.loseData();
      else replicas.server.restart(snapshot);
      await replicas.clock.advance(70_000);
      expect(occurrencesOf(a, b)).toEqual(['a 00:01:00', 'a 00:02:00', 'a 00:03:00']);
      expect(missedOf(a, b)).toEqual([]);
    });

    it('reports what was due without a leader, up to the start of the new state', async () => {
      const [a, b] = await leaderAndFollower(everyMinute);
      for (const { store } of [a, b]) store.partition();
      await replicas.clock.advance(150_000);
      replicas.server.loseData();
      for (const { store } of [a, b]) store.heal();
      await replicas.clock.advance(60_000);
      expect(missedOf(a, b)).toEqual([expect.stringMatching(/^[ab] data-lost \(00:00:00, 00:02:4\d\] 2$/)]);
      expect(occurrencesOf(a, b)).toEqual([expect.stringMatching('00:03:00')]);
    });
  });
});
