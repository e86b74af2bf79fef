import { describe, expect, it } from '@jest/globals';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { type StateUpdate } from '../store/lock-store.js';
import { job, lasting } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

describe('The renewal of a lock', () => {
  const replicas = useReplicas();
  const idle = (): ReturnType<typeof job> => job({ schedule: cron('0 3 * * *') });

  it('reports its round trip and the offset of the clocks', async () => {
    const a = replicas.start('a', [idle()], { network: { delayMs: 40 } });
    await replicas.clock.advance(1_000);
    a.clock.aheadMs = -500;
    await replicas.clock.advance(20_000);
    const [, second, third] = a.observer.of('leaseRenewed');
    const [gained] = a.observer.of('leadershipGained');
    // the store reads its clock when the request arrives, here half a round trip before the middle of the two moments of ours
    expect(second).toEqual({
      job: 'tick',
      fencingToken: gained?.fencingToken,
      roundTripMs: 40,
      clockOffsetMs: 480,
    });
    expect(third).toEqual(second);
    expect(a.observer.of('leaseRenewed')).toHaveLength(3);
  });

  it('reports nothing if it is not answered before the end of the term', async () => {
    const a = replicas.start('a', [idle()]);
    await replicas.clock.advance(1_000);
    a.store.partition();
    await replicas.clock.advance(20_000);
    expect(a.observer.of('leadershipLost')).toHaveLength(1);
    // the one at the start
    expect(a.observer.of('leaseRenewed')).toHaveLength(1);
  });

  it('is sent at once by a new leader, before any claim, and records what it found', async () => {
    const every5Seconds = cron('*/5 * * * * *', { timeZone: 'UTC', jobName: 'tick' });
    const a = replicas.prepare('a', [job({ schedule: every5Seconds })]);
    const updates: StateUpdate[] = [];
    const renew = a.store.renew.bind(a.store);
    a.store.renew = (request) => {
      updates.push(request.update);
      return renew(request);
    };
    a.pool.start();
    await replicas.clock.advance(5_500);
    const now = Date.UTC(2027, 0, 1);
    const sent = a.store.sent.map(({ request }) => request).filter((request) => /renew|claim/.test(request));
    expect(sent.slice(0, 2)).toEqual(['renew', 'claim']);
    expect(updates[0]).toMatchObject({
      claimed: now,
      handled: now,
      schedule: every5Seconds.description,
    });
  });

  it('is sent at once when a claimed run has begun, and records that', async () => {
    const every10Seconds = cron('*/10 * * * * *', { timeZone: 'UTC', jobName: 'tick' });
    const a = replicas.start('a', [job({ schedule: every10Seconds })]);
    await replicas.clock.advance(10_000);
    expect(replicas.server.snapshot().states.get('tick')?.handled).toBe(Date.UTC(2027, 0, 1, 0, 0, 10));
    expect(a.observer.of('runStarted')).toHaveLength(1);
  });

  it('carries when the last run ended, as an instant of the store', async () => {
    const a = replicas.start('a', [job({ schedule: interval(4_000), run: lasting(replicas.clock, 1_500) })]);
    a.clock.aheadMs = 300;
    await replicas.clock.advance(9_900);
    const endOf = () => replicas.server.snapshot().states.get('tick')?.runEndedAt;
    expect(endOf()).toBeUndefined();
    await replicas.clock.advance(100);
    expect(endOf()).toBe(Date.UTC(2027, 0, 1) + 7_000);
  });

  it('repeats the same facts each time, for a store that lost its last writes', async () => {
    replicas.start('a', [job({ schedule: interval(60_000), run: lasting(replicas.clock, 1_500) })]);
    await replicas.clock.advance(1_000);
    const snapshot = replicas.server.snapshot();
    await replicas.clock.advance(1_000);
    const before = replicas.server.snapshot().states.get('tick')?.runEndedAt;
    expect(before).toBe(Date.UTC(2027, 0, 1) + 1_500);
    replicas.server.restart(snapshot);
    await replicas.clock.advance(10_000);
    expect(replicas.server.snapshot().states.get('tick')?.runEndedAt).toBe(before);
  });

  it('is sent every 10 s for any lockExpiry', async () => {
    const jobs = [800, 10_000, 3_600_000].map((lockExpiryMs) =>
      job({ ...idle(), name: `job-${lockExpiryMs}`, lockExpiryMs }),
    );
    const a = replicas.start('a', jobs);
    await replicas.clock.advance(60_000);
    for (const { name } of jobs) {
      expect(a.store.sent.filter((sent) => sent.request === 'renew' && sent.name === name)).toHaveLength(7);
    }
  });

  it('is not logged', async () => {
    const lines: string[] = [];
    const write = (line: string) => lines.push(line);
    const a = replicas.start('a', [idle()], { log: { error: write, warn: write, log: write, debug: write } });
    await replicas.clock.advance(60_000);
    expect(a.observer.of('leaseRenewed').length).toBeGreaterThan(5);
    expect(lines).toEqual([expect.stringContaining('became LEADER')]);
  });
});
