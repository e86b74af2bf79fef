import { beforeEach, describe, expect, it } from '@jest/globals';
import { onWrite } from '../../../../test/support/faulty-store.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';

const MINUTE = 60_000;

describe('A cron run', () => {
  const replicas = useReplicas();
  let seen: (string | undefined)[];
  beforeEach(() => {
    seen = [];
  });

  const clockOf = (date: Date) => date.toISOString().slice(11, 16);
  const note = ({ scheduledAt, missed }: JobRun) => {
    const window = missed && `(${clockOf(missed.from)}, ${clockOf(missed.to)}] ${String(missed.count)}`;
    seen.push(`${clockOf(scheduledAt)} ${window ?? 'none'}${missed?.mayHaveRun === true ? ' may have run' : ''}`);
  };
  /** The replicas begin at midnight. */
  const everyMinute = (overrides: Parameters<typeof job>[0] = {}): Job =>
    job({ name: 'report', schedule: cron('* * * * *'), run: note, ...overrides });

  it('knows the occurrence before it', async () => {
    replicas.begin({ wall: '2027-01-04T02:59:00Z' });
    const previous: unknown[] = [];
    const schedule = cron('0 3 * * 1');
    const a = replicas.start('a', [
      everyMinute({ schedule, run: (run) => previous.push(run.scheduledAt, run.previousScheduledAt) }),
    ]);
    await replicas.clock.advance(2 * MINUTE);
    expect(previous).toEqual([new Date('2027-01-04T03:00:00Z'), new Date('2026-12-28T03:00:00Z')]);
    await a.pool.stop();
  });

  it('makes up for those that came due during a run', async () => {
    let isFirst = true;
    replicas.start('a', [
      everyMinute({
        run: async (run) => {
          note(run);
          if (isFirst) await lasting(replicas.clock, 2.5 * MINUTE)(run);
          isFirst = false;
        },
      }),
    ]);
    await replicas.clock.advance(5 * MINUTE);
    expect(seen).toEqual(['00:01 none', '00:04 (00:01, 00:03] 2', '00:05 none']);
  });

  it('counts them up to 1,000', async () => {
    const a = await replicas.leader([everyMinute()], MINUTE);
    await Promise.all([a.pool.close(), replicas.clock.advance(100)]);
    await replicas.clock.advance(17 * 60 * MINUTE);
    await replicas.another([everyMinute()], MINUTE);
    expect(seen[1]).toBe('17:01 (00:01, 17:00] 1000');
  });

  it('makes up for those that were missed while no replica led, also if another leader has reported them', async () => {
    const a = await replicas.leader([everyMinute()], 1.1 * MINUTE);
    await a.pool.stop();
    await replicas.clock.advance(5 * MINUTE - 0.1 * MINUTE + 45_000);
    const b = await replicas.another([everyMinute()], 1_000);
    expect(b.observer.of('occurrencesMissed')).toMatchObject([{ count: 5, reason: 'late' }]);
    await b.pool.stop();
    replicas.start('c', [everyMinute()]);
    await replicas.clock.advance(MINUTE);
    expect(seen).toEqual(['00:01 none', '00:07 (00:01, 00:06] 5']);
  });

  it('does not know whether an occurrence ran that was claimed by a leader which was killed', async () => {
    const [a, b] = await replicas.leaderAndFollower([everyMinute()], MINUTE + 10_000);
    // the claim arrives, its answer does not
    a.store.outcome = onWrite('answer-lost');
    await replicas.clock.advance(50_010);
    a.kill();
    await replicas.clock.advance(2 * MINUTE);
    expect(b.observer.of('runInterrupted')).toMatchObject([{ by: 'a', occurrence: new Date('2027-01-01T00:02:00Z') }]);
    expect(seen.slice(0, 2)).toEqual(['00:01 none', '00:03 (00:01, 00:02] 1 may have run']);
  });

  it('knows that the last one ran if the leader was killed in a triggered run after it', async () => {
    const run = async (given: JobRun) => {
      if (given.cause === 'trigger') await lasting(replicas.clock, MINUTE)(given);
      else note(given);
    };
    const [a] = await replicas.leaderAndFollower([everyMinute({ run })], MINUTE + 10_000);
    await Promise.all([a.registry.trigger('report'), replicas.clock.advance(10)]);
    a.kill();
    await replicas.clock.advance(MINUTE);
    expect(seen).toEqual(['00:01 none', '00:02 none']);
  });

  it('makes up for nothing that is older than its schedule', async () => {
    const hourly = everyMinute({ schedule: cron('0 * * * *') });
    const a = await replicas.leader([hourly], 61 * MINUTE);
    await a.pool.stop();
    await replicas.clock.advance(10_000);
    await replicas.another([everyMinute()], MINUTE);
    expect(seen).toEqual(['01:00 none', '01:02 none']);
  });

  it('makes up for nothing if it was triggered', async () => {
    const a = await replicas.leader([everyMinute()], 10_000);
    await Promise.all([a.registry.trigger('report'), replicas.clock.advance(10)]);
    expect(seen).toEqual(['00:00 none']);
  });
});
