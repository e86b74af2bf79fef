import { describe, expect, it } from '@jest/globals';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { type JobEvents } from '../base/events/events.js';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { TestReplicas } from '../testing/replicas/test-replicas.js';
import { job } from '../testing/specs/job.js';
import { type Clock } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';

const LOCK_EXPIRY_MS = 10_000;

const atMs = ({ observer }: TestReplica, event: keyof JobEvents): number =>
  observer.events.find((one) => one.event === event)?.atMs ?? Infinity;

/** A job whose run ends some time after its signal fires. */
function settling(clock: Clock, forMs: number): Job[] {
  const run = async ({ signal }: JobRun): Promise<void> => {
    await sleep(clock, 3_600_000, signal);
    await sleep(clock, forMs, new AbortController().signal);
    signal.throwIfAborted();
  };
  return [job({ schedule: interval(500), run })];
}

/** A leader that is cut off in its run, and the replica that takes over from it. */
async function succession({
  rate = 1,
  endsInMs = 0,
}): Promise<{ readonly last: TestReplica; readonly next: TestReplica }> {
  const replicas = new TestReplicas();
  const last = replicas.start('last', ({ clock }) => settling(clock, endsInMs), { rate });
  await replicas.clock.advance(100);
  const next = replicas.start('next', ({ clock }) => settling(clock, 0));
  last.store.outcome = () => 'request-lost';
  await replicas.clock.advance(3 * LOCK_EXPIRY_MS);
  last.store.outcome = () => 'answered';
  await Promise.all([last.pool.close(), replicas.clock.advance(LOCK_EXPIRY_MS), next.pool.close()]);
  return { last, next };
}

describe('The safety margin of a tenth of the life of a lock', () => {
  it.each([0.91, 0.99, 1, 1.01, 1.5])(
    'lets a leader with clocks at %f of the right rate abort before another run begins',
    async (rate) => {
      const { last, next } = await succession({ rate });
      expect(last.observer.of('runCancelled')[0]).toMatchObject({ code: 'LEASE_LOST' });
      expect(atMs(last, 'runCancelled')).toBeLessThan(LOCK_EXPIRY_MS);
      expect(atMs(next, 'runStarted')).toBeGreaterThanOrEqual(LOCK_EXPIRY_MS);
    },
  );

  it('is not enough for slower clocks', async () => {
    const { last, next } = await succession({ rate: 0.85 });
    expect(atMs(last, 'runCancelled')).toBeGreaterThan(atMs(next, 'runStarted'));
  });

  it.each([0, 500, 999])('lets a run end: after %i ms no other run has begun', async (endsInMs) => {
    const { last, next } = await succession({ endsInMs });
    expect(atMs(last, 'runCancelled')).toBeGreaterThanOrEqual(LOCK_EXPIRY_MS - 1_000 + endsInMs);
    expect(atMs(last, 'runCancelled')).toBeLessThan(atMs(next, 'runStarted'));
  });

  it('is not enough for a run that ends later: another begins under a larger token', async () => {
    const { last, next } = await succession({ endsInMs: 5_000 });
    expect(atMs(last, 'runCancelled')).toBeGreaterThan(atMs(next, 'runStarted'));
    const [first, second] = [last, next].map(({ observer }) => observer.of('runStarted')[0]?.fencingToken ?? NaN);
    expect(second).toBeGreaterThan(first ?? NaN);
  });
});
