import { describe, expect, it } from '@jest/globals';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { type AnySchedule } from '../schedule/schedule.js';

const every = (seconds: number) => cron(`*/${String(seconds)} * * * * *`);

const CHANGES: Readonly<Record<string, readonly [AnySchedule, AnySchedule]>> = {
  'one cron to another': [every(10), every(15)],
  'cron to a grid': [every(10), fixedRate(1_000)],
  'a grid to an interval': [fixedRate(1_000), interval(5_000)],
  'an interval to cron': [interval(1_000), every(10)],
};

describe('In a rolling deploy', () => {
  const replicas = useReplicas();

  it.each(Object.entries(CHANGES))(
    'from %s and back, no run overlaps and no occurrence starts twice',
    async (_, change) => {
      const seen = { inFlight: 0, most: 0 };
      const takes = lasting(replicas.clock, 200);
      const run = async (given: JobRun) => {
        seen.inFlight += 1;
        seen.most = Math.max(seen.most, seen.inFlight);
        await takes(given);
        seen.inFlight -= 1;
      };
      const [old, changed] = change.map((schedule) => job({ name: 'report', schedule, run })) as [Job, Job];
      const started = [replicas.start('a', [old]), replicas.start('b', [changed])];
      for (const [name, version] of [
        ['c', old],
        ['d', changed],
        ['e', old],
      ] as const) {
        await replicas.clock.advance(23_400);
        const leader = started.at(-2);
        void leader?.pool.stop();
        await replicas.clock.advance(1);
        started.push(replicas.start(name, [version]));
      }
      await replicas.clock.advance(23_400);

      expect(seen.most).toBe(1);
      // a to d, one after the other; the last one waits
      for (const { observer } of started.slice(0, 4)) {
        expect(observer.of('leadershipGained')).toHaveLength(1);
        expect(observer.of('runStarted').length).toBeGreaterThan(0);
        expect(observer.of('warning').filter(({ code }) => code !== 'SCHEDULE_DIFFERS')).toEqual([]);
      }
      const missed = started.flatMap(({ observer }) => observer.of('occurrencesMissed'));
      expect(missed.filter(({ reason, count }) => reason !== 'schedule-changed' || count === 0)).toEqual([]);
      const occurrences = started.flatMap(({ observer }) =>
        observer
          .of('runStarted')
          .filter(({ kind }) => kind === 'cron')
          .map(({ scheduledAt }) => scheduledAt.getTime()),
      );
      expect(new Set(occurrences).size).toBe(occurrences.length);
      expect(
        occurrences.filter((at) => missed.some(({ from, to }) => from.getTime() < at && at <= to.getTime())),
      ).toEqual([]);
    },
  );
});
