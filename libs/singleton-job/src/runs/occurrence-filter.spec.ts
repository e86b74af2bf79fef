import { beforeEach, describe, expect, it } from '@jest/globals';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';

const MINUTE = 60_000;

const runEnds = ({ observer }: TestReplica) =>
  observer.eventLines.filter((line) => /run(Succeeded|Cancelled)/.test(line));

describe('A cron job with only', () => {
  const replicas = useReplicas();
  let runs: string[];
  beforeEach(() => {
    runs = [];
  });
  const started = (only: NonNullable<Job['only']>, more: Parameters<typeof job>[0] = {}) =>
    replicas.start('a', [
      job({
        schedule: cron('* * * * *'),
        only,
        run: ({ scheduledAt, missed }) => {
          const count = missed === null ? '' : ` missed ${missed.count}`;
          runs.push(`${scheduledAt.toISOString().slice(14, 16)}${count}`);
        },
        ...more,
      }),
    ]);
  const isEven = (date: Date) => date.getUTCMinutes() % 2 === 0;

  it('runs the occurrences that it leaves in, and the others do not count as missed, also for the next leader', async () => {
    const a = started(async (date) => Promise.resolve(isEven(date)));
    await replicas.clock.advance(5 * MINUTE + 100);
    const skipped = a.observer.of('occurrenceSkipped').map(({ scheduledAt }) => scheduledAt.getUTCMinutes());
    await Promise.all([a.pool.stop(), replicas.clock.advance(1_000)]);
    const b = started(isEven);
    await replicas.clock.advance(MINUTE);
    expect([runs, skipped]).toEqual([
      ['02', '04', '06'],
      [1, 3, 5],
    ]);
    expect([...a.observer.of('occurrencesMissed'), ...b.observer.of('occurrencesMissed')]).toEqual([]);
  });

  it('makes up for what was missed before one that was left out', async () => {
    const a = started((date) => date.getUTCMinutes() !== 4);
    await replicas.clock.advance(MINUTE + 100);
    void a.registry.pause('tick');
    await replicas.clock.advance(2.7 * MINUTE);
    void a.registry.resume('tick');
    await replicas.clock.advance(1.3 * MINUTE);
    expect(runs).toEqual(['01', '05 missed 3']);
  });

  it('does not hide what was missed before one that it leaves out', async () => {
    const a = started((date) => date.getUTCMinutes() !== 4, { misfireGraceMs: MINUTE });
    await replicas.clock.advance(MINUTE + 100);
    void a.registry.pause('tick');
    await replicas.clock.advance(3.5 * MINUTE);
    void a.registry.resume('tick');
    await replicas.clock.advance(1_000);
    expect(a.observer.of('occurrenceSkipped').map(({ scheduledAt }) => scheduledAt.getUTCMinutes())).toEqual([4]);
    expect(a.observer.of('occurrencesMissed')).toMatchObject([{ reason: 'late', count: 2 }]);
  });

  it('asks again each second if it throws, with one warning, until the misfire grace is over', async () => {
    let calls = 0;
    const only = (date: Date) => {
      calls += 1;
      if (date.getUTCMinutes() === 2 || calls < 4) throw new Error('no calendar');
      return true;
    };
    const a = started(only, { misfireGraceMs: 10_000 });
    await replicas.clock.advance(2 * MINUTE + 30_000);
    expect([runs, calls]).toEqual([['01'], 15]);
    expect(a.observer.of('warning')).toMatchObject([{ code: 'ONLY_FAILED' }, { code: 'ONLY_FAILED' }]);
    expect(a.observer.of('occurrencesMissed')).toMatchObject([{ reason: 'late', count: 1 }]);
  });

  it.each([undefined, null, 0, 1, ['x']])('fails if it returns no boolean: %j', async (returned) => {
    const a = started(() => returned as never, { misfireGraceMs: 10_000 });
    await replicas.clock.advance(MINUTE + 30_000);
    expect(a.observer.of('warning')).toMatchObject([{ code: 'ONLY_FAILED' }]);
    expect([runs, a.observer.of('occurrencesMissed').length]).toEqual([[], 1]);
  });

  it('keeps a run from making room for an occurrence that it leaves out', async () => {
    const a = started(isEven, {
      overlap: 'cancel-other',
      run: lasting(replicas.clock, 1.5 * MINUTE, { obedient: true }),
    });
    await replicas.clock.advance(3.8 * MINUTE);
    expect(runEnds(a)).toEqual(['210000 runSucceeded schedule']);
    await Promise.all([a.pool.stop(), replicas.clock.advance(1_000)]);
    started(isEven);
    await replicas.clock.advance(MINUTE);
    expect(runs).toEqual(['04']);
  });

  it('does not hide for which occurrence its leader was killed, when it has left out one after it', async () => {
    const work = { overlap: 'cancel-other', run: lasting(replicas.clock, 10 * MINUTE) } as const;
    const a = started(isEven, work);
    await replicas.clock.advance(3 * MINUTE + 20_000);
    a.kill();
    const b = started(isEven, work);
    await replicas.clock.advance(20_000);
    expect(b.observer.of('runInterrupted')).toMatchObject([{ occurrence: new Date('2027-01-01T00:02:00Z') }]);
  });

  it('is not said to have failed when the leader stops while it is asked', async () => {
    const a = started(() => new Promise(() => undefined), { misfireGraceMs: 10_000 });
    await replicas.clock.advance(MINUTE + 5_000);
    await Promise.all([a.pool.stop(), replicas.clock.advance(1_000)]);
    expect(a.observer.of('warning')).toEqual([]);
  });

  it('starts nothing while a function does not answer, says so once for each occurrence, and can stop', async () => {
    const a = started(() => new Promise(() => undefined), { misfireGraceMs: 10_000 });
    await replicas.clock.advance(2 * MINUTE + 30_000);
    expect(a.observer.of('warning')).toMatchObject([{ code: 'ONLY_FAILED' }, { code: 'ONLY_FAILED' }]);
    expect(a.observer.of('occurrencesMissed')).toMatchObject([{ reason: 'late' }, { reason: 'late' }]);
    await Promise.all([a.pool.stop(), replicas.clock.advance(1_000)]);
    expect(a.observer.of('leadershipReleased')).toMatchObject([{ confirmed: true }]);
  });
});
