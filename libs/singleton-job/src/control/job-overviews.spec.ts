import { describe, expect, it } from '@jest/globals';
import { job, lasting } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { writeLastRun } from '../runs/last-run.js';

const START = Date.UTC(2027, 0, 1);
const at = (ms: number) => new Date(START + ms).toISOString();

describe('The overview of all jobs', () => {
  const replicas = useReplicas();
  const minutely = (run: Parameters<typeof job>[0] = {}) =>
    job({ schedule: fixedRate(60_000, { offsetMs: 0 }), ...run });

  async function overviewOf({ registry }: TestReplica) {
    const [overviews] = await Promise.all([registry.overview(), replicas.clock.advance(10)]);
    return overviews;
  }

  it('has the leader, the next tick and the last run, from any replica', async () => {
    const run = lasting(replicas.clock, 500);
    replicas.start('a', [minutely({ run })]);
    const b = replicas.start('b', [minutely({ run }), job({ name: 'idle', enabled: false })]);
    await replicas.clock.advance(75_000);
    expect(await overviewOf(b)).toMatchObject([
      {
        name: 'tick',
        kind: 'fixed-rate',
        leader: 'a',
        pausedAt: null,
        nextTickAt: at(120_000),
        lastRun: { startedAt: at(60_000), endedAt: at(60_500), outcome: 'succeeded', error: null, by: 'a' },
      },
      { name: 'idle', leader: null, lastRun: null },
    ]);
  });

  it('has the error of a failed run, and the start of one that has not ended', async () => {
    const failing = () => {
      throw new Error('x'.repeat(500));
    };
    const hanging = () => new Promise<void>(() => undefined);
    replicas.start('a', [minutely({ run: failing }), minutely({ name: 'hangs', run: hanging })]);
    const b = replicas.start('b', [minutely(), minutely({ name: 'hangs' })]);
    await replicas.clock.advance(75_000);
    expect((await overviewOf(b)).map(({ lastRun }) => lastRun)).toMatchObject([
      { outcome: 'failed', error: 'x'.repeat(200) },
      { startedAt: at(60_000), endedAt: null, outcome: null },
    ]);
  });

  it('keeps the last run when another replica leads, until that has run', async () => {
    const a = replicas.start('a', [minutely()]);
    await replicas.clock.advance(61_000);
    await a.pool.stop();
    const b = replicas.start('b', [minutely()]);
    await replicas.clock.advance(5_000);
    expect(await overviewOf(b)).toMatchObject([{ leader: 'b', lastRun: { by: 'a' } }]);
    await replicas.clock.advance(70_000);
    expect(await overviewOf(b)).toMatchObject([{ lastRun: { by: 'b' } }]);
  });

  it('is read once for 100 jobs, and again after 2 s', async () => {
    const jobs = Array.from({ length: 150 }, (_, i) => minutely({ name: `job-${i}` }));
    const a = replicas.start('a', jobs);
    await replicas.clock.advance(1_000);
    await overviewOf(a);
    await overviewOf(a);
    expect(a.store.count('readLocks')).toBe(2);
    await replicas.clock.advance(2_000);
    expect(await overviewOf(a)).toHaveLength(150);
    expect(a.store.count('readLocks')).toBe(4);
  });

  it('rejects while the store does not answer', async () => {
    const a = replicas.start('a', [minutely()]);
    await replicas.clock.advance(1_000);
    a.store.partition();
    const overview = expect(a.registry.overview()).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    await replicas.clock.advance(3_000);
    await overview;
  });

  it('costs no request beside the renewals', async () => {
    const a = replicas.start('a', [minutely()]);
    await replicas.clock.advance(95_000);
    expect(a.store.count('renew')).toBe(10);
  });

  it('has a record of less than 400 bytes', () => {
    const run = {
      startedAt: START,
      endedAt: START,
      outcome: 'cancelled',
    } as const;
    const text = writeLastRun(
      { ...run, error: 'x'.repeat(1_000) },
      { holder: 'web-1-4d020223.1@10000#1', token: 2 ** 53 - 1, number: 123_456, recordedAt: START },
    );
    expect(text.length).toBeLessThan(400);
  });
});
