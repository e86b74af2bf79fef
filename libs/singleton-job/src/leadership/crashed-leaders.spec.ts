import { describe, expect, it } from '@jest/globals';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { timesOf } from '../testing/specs/event-lines.js';
import { job, lasting } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

/** The first leader crashes here, in the middle of its session. */
const CRASH_MS = 10_500;
const LOCK_EXPIRY_MS = 10_000;

describe('When a leader with a heartbeat thread crashes', () => {
  const replicas = useReplicas();
  /** Two replicas, of which the first one leads and crashes. */
  const crash = async (jobs: () => readonly Job[]): Promise<TestReplica> => {
    const a = replicas.start('a', jobs(), { hasThread: true });
    await replicas.clock.advance(100);
    const b = replicas.start('b', jobs());
    await replicas.clock.advance(CRASH_MS - 100);
    a.crash();
    return b;
  };
  const startsOf = (replica: TestReplica) => timesOf(replica, 'runStarted').map(Math.round);

  it('another replica leads at once, under a larger token', async () => {
    const b = await crash(() => [job()]);
    await replicas.clock.advance(10);
    expect(b.observer.of('leadershipGained')).toMatchObject([{ because: 'session-ended', after: 'a' }]);
    await replicas.clock.advance(600);
    expect(startsOf(b)).toEqual([11_000]);
  });

  it('and the message is lost, another replica leads after its next heartbeat', async () => {
    const jobs = [job()];
    const a = replicas.start('a', jobs, { hasThread: true });
    await replicas.clock.advance(100);
    const b = replicas.start('b', jobs);
    await replicas.clock.advance(CRASH_MS - 100);
    b.store.losesMessages = true;
    a.crash();
    await replicas.clock.advance(2_500);
    expect(timesOf(b, 'leadershipGained')[0]).toBeLessThan(CRASH_MS + 2_500);
  });

  it('while the store is away for its thread, its session ends by itself', async () => {
    const a = replicas.start('a', [job()], { hasThread: true });
    await replicas.clock.advance(100);
    const b = replicas.start('b', [job()]);
    await replicas.clock.advance(CRASH_MS - 100);
    a.thread?.store.partition();
    a.crash();
    await replicas.clock.advance(2 * LOCK_EXPIRY_MS);
    const [ledAtMs = 0] = timesOf(b, 'leadershipGained');
    expect(ledAtMs).toBeGreaterThan(CRASH_MS + 0.6 * LOCK_EXPIRY_MS);
    expect(ledAtMs).toBeLessThan(CRASH_MS + 1.1 * LOCK_EXPIRY_MS);
  });

  it('a run that was in flight is not repeated before its delay has passed', async () => {
    const b = await crash(() => [job({ schedule: interval(3_000), run: lasting(replicas.clock, 5_000) })]);
    await replicas.clock.advance(5_000);
    expect(startsOf(b)).toEqual([CRASH_MS + 3_000]);
  });

  it('between two runs of an interval, the delay counts from the end of the last one', async () => {
    const b = await crash(() => [job({ schedule: interval(12_000), run: lasting(replicas.clock, 500) })]);
    await replicas.clock.advance(12_000);
    expect(startsOf(b)).toEqual([12_500]);
  });

  it('a claimed occurrence is not started again', async () => {
    const everyTenSeconds = cron('*/10 * * * * *', { timeZone: 'UTC', jobName: 'tick' });
    const b = await crash(() => [job({ schedule: everyTenSeconds, run: lasting(replicas.clock, 5_000) })]);
    await replicas.clock.advance(12_000);
    expect(startsOf(b)).toEqual([20_000]);
  });
});
