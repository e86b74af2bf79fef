import { describe, expect, it } from '@jest/globals';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { StoreError } from '../base/errors/store.error.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';

const START = Date.UTC(2027, 0, 1);
const at = (ms: number) => new Date(START + ms).toISOString();

describe('The overview of all jobs', () => {
  const replicas = useReplicas();
  const minutely = (run: Parameters<typeof job>[0] = {}) => job({ schedule: fixedRate(60_000), ...run });

  async function overviewOf({ registry }: TestReplica) {
    const [overviews] = await Promise.all([registry.overview(), replicas.clock.advance(10)]);
    return overviews;
  }

  it('has the leader, the next tick and the last run, from any replica', async () => {
    const run = lasting(replicas.clock, 500);
    const beat = job({ name: 'beat', schedule: interval(60_000), run });
    replicas.start('a', [minutely({ run }), beat]);
    const b = await replicas.another([minutely({ run }), beat, job({ name: 'idle', enabled: false })], 75_000);
    const ended = { outcome: 'succeeded', error: null, by: 'a' };
    expect(await overviewOf(b)).toEqual([
      {
        name: 'tick',
        kind: 'fixed-rate',
        schedule: 'fixed-rate 60000ms offset 0ms',
        leader: 'a',
        pausedAt: null,
        pausedUntil: null,
        pauseReason: null,
        pauseScope: null,
        nextTimes: [at(120_000), at(180_000), at(240_000)],
        lastRun: { startedAt: at(60_000), endedAt: at(60_500), ...ended },
      },
      expect.objectContaining({
        nextTimes: [at(121_000), at(181_000), at(241_000)],
        lastRun: { startedAt: at(60_500), endedAt: at(61_000), ...ended },
      }),
      expect.objectContaining({ name: 'idle', leader: null, lastRun: null }),
    ]);
  });

  it('is empty at once where there are no jobs', async () => {
    expect(await overviewOf(replicas.start('a', []))).toEqual([]);
  });

  it('has the error of a failed run, the start of one that has not ended, and a pause', async () => {
    const failing = () => {
      throw new Error('x'.repeat(500));
    };
    const hanging = () => new Promise<void>(() => undefined);
    replicas.start('a', [minutely({ run: failing }), minutely({ name: 'hangs', run: hanging })]);
    const b = await replicas.another([minutely(), minutely({ name: 'hangs' })], 75_000);
    await Promise.all([b.registry.pause('tick'), replicas.clock.advance(10)]);
    expect(await overviewOf(b)).toMatchObject([
      { leader: null, pausedAt: at(75_000), nextTimes: [], lastRun: { outcome: 'failed', error: 'x'.repeat(200) } },
      { leader: 'a', lastRun: { startedAt: at(60_000), endedAt: null, outcome: null } },
    ]);
  });

  it('shows a run whose leader died as interrupted, as soon as another one leads', async () => {
    const a = await replicas.leader([minutely({ run: lasting(replicas.clock, 50_000) })], 75_000);
    a.kill();
    const d = replicas.start('d', [minutely({ enabled: false })]);
    await replicas.clock.advance(10_000);
    expect(await overviewOf(d)).toMatchObject([{ leader: null, lastRun: { by: 'a', endedAt: null, outcome: null } }]);
    await replicas.another([minutely()], 5_000);
    expect(await overviewOf(d)).toMatchObject([{ leader: 'b', lastRun: { by: 'a', outcome: 'interrupted' } }]);
  });

  it('names no leader that another server had', async () => {
    const a = await replicas.leader([minutely()], 1_000);
    a.kill();
    replicas.server.restart(replicas.server.snapshot());
    const d = replicas.start('d', [minutely({ enabled: false })]);
    await Promise.all([d.registry.pause('tick').catch(() => undefined), replicas.clock.advance(2_100)]);
    expect(await overviewOf(d)).toMatchObject([{ leader: null, pausedAt: at(1_000) }]);
  });

  it('is one read of 400 jobs, and is read again after 2 s', async () => {
    const a = replicas.start('a', [minutely()]);
    const jobs = Array.from({ length: 500 }, (_, i) => minutely({ name: `job-${i}`, enabled: false }));
    const d = replicas.start('d', jobs);
    await replicas.clock.advance(1_000);
    expect(await overviewOf(d)).toHaveLength(500);
    await overviewOf(d);
    const reads = () => d.store.sent.flatMap(({ request, names }) => (request === 'sync' ? [names.length] : []));
    // with that of the pause of all jobs
    expect(reads()).toEqual([401, 101]);
    await replicas.clock.advance(2_000);
    await overviewOf(d);
    expect(reads()).toHaveLength(4);
    expect(a.store.syncs.length).toBeLessThan(5);
  });

  it.each<[string, TestReplica['store']['outcome'], string]>([
    ['denies requests', () => 'STORE_MISCONFIGURED', 'STORE_MISCONFIGURED'],
    ['does not answer', () => 'request-lost', 'STORE_UNREACHABLE'],
  ])('rejects with the reason while the store %s, and when the application has stopped', async (_, outcome, code) => {
    const a = await replicas.leader([minutely()], 1_000);
    a.store.outcome = outcome;
    const overview = expect(a.registry.overview()).rejects.toMatchObject({ code, cause: expect.any(StoreError) });
    await replicas.clock.advance(3_000);
    await overview;
    await Promise.all([a.pool.close(), replicas.clock.advance(3_000)]);
    await expect(a.registry.overview()).rejects.toMatchObject({ code });
  });
});
