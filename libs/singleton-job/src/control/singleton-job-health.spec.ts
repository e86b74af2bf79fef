import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { jobRecord } from '../leadership/record.js';
import { cron } from '../schedule/cron/cron.js';

const MINUTE_MS = 60_000;
const WELL = { unreachable: [], overdue: [], leaderless: [], paused: [] };
const hanging = (): Promise<never> => new Promise(() => undefined);

describe('The health of a replica', () => {
  const replicas = useReplicas();

  it.each([
    [3_000, 13_000, true],
    [undefined, 20_000, false],
  ])('is bad when a run lasts too long: a timeout of %s ms', async (timeoutMs, patienceMs, isStuck) => {
    const { health } = replicas.start('a', [job({ timeoutMs, run: hanging })]);
    await replicas.clock.advance(2_000 + patienceMs + 1);
    const [dueAt, runningSince] = ['2027-01-01T00:00:02.000Z', '2027-01-01T00:00:01.000Z'];
    expect(health.report().overdue).toEqual([{ name: 'tick', dueAt, runningSince, isStuck }]);
  });

  it('is bad when a tick does not come to a run', async () => {
    const { health } = replicas.start('a', [
      job({ schedule: cron('* * * * *'), only: hanging, misfireGraceMs: MINUTE_MS }),
    ]);
    await replicas.clock.advance(MINUTE_MS + 25_000);
    const dueAt = '2027-01-01T00:01:00.000Z';
    expect(health.report().overdue).toEqual([{ name: 'tick', dueAt, runningSince: null, isStuck: true }]);
  });

  it('is bad while the store is unreachable for longer than lockExpiry', async () => {
    const { health, store } = replicas.start('a', [job()]);
    await replicas.clock.advance(1_000);
    store.partition();
    await replicas.clock.advance(12_000);
    expect(health.report().unreachable).toEqual([]);
    // the lock of the lost term is released while it may be alive
    await replicas.clock.advance(30_000);
    const unreachable = [{ store: 'memory', forMs: expect.any(Number) }];
    expect(health.report()).toEqual({ ...WELL, unreachable, leaderless: ['tick'] });
    store.heal();
    await replicas.clock.advance(12_000);
    expect(health.report()).toEqual(WELL);
  });

  it('misses the leader of a job whose record cannot be read', async () => {
    const { health } = replicas.start('a', [job({ name: 'broken' }), job({ name: 'well' })]);
    await replicas.clock.advance(1_000);
    replicas.server.corrupt(jobRecord('broken'));
    await replicas.clock.advance(60_000);
    expect(health.report()).toEqual({ ...WELL, leaderless: ['broken'] });
  });

  it('misses no leader of a job that it does not compete for, or that is paused', async () => {
    const jobs = ['stands-back', 'paused'].map((name) => job({ name }));
    const late = job({ name: 'late', initialDelayMs: MINUTE_MS });
    const { health, pool, registry } = replicas.start('a', [...jobs, late, job({ name: 'off', enabled: false })]);
    await Promise.all([registry.pause('paused'), replicas.clock.advance(1_500)]);
    pool.find('stands-back')?.election?.stepDown('stepped-down');
    await replicas.clock.advance(0);
    const own = { name: 'paused', pauseScope: 'job', pauseReason: null, pausedUntil: null };
    expect(health.report()).toMatchObject({ ...WELL, paused: [own] });
    const reason = { pauseScope: 'all', pauseReason: 'a migration' };
    await Promise.all([registry.pauseAll({ reason: 'a migration' }), replicas.clock.advance(100_000)]);
    const names = ['stands-back', 'paused', 'late'];
    expect(health.report()).toMatchObject({ ...WELL, paused: names.map((name) => ({ name, ...reason })) });
  });

  it('is good while a run of a lost term does not end', async () => {
    const { health, observer } = replicas.start('a', [job({ timeoutMs: 3_000, run: hanging })]);
    await replicas.clock.advance(1_500);
    replicas.server.loseRecord(jobRecord('tick'));
    await replicas.clock.advance(MINUTE_MS);
    expect([observer.of('leadershipGained').length, observer.of('leadershipLost').length]).toEqual([1, 1]);
    expect(health.report()).toEqual(WELL);
  });
});
