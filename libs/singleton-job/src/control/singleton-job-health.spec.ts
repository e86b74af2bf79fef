import { describe, expect, it } from '@jest/globals';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { jobRecord } from '../leadership/record.js';
import { overdueSince } from '../runs/due.js';
import { type RunFacts } from '../leadership/record.js';

const MINUTE_MS = 60_000;
const WELL = { unreachable: [], overdue: [], leaderless: [] };
const hanging = (): Promise<never> => new Promise(() => undefined);

describe('The health of a replica', () => {
  const replicas = useReplicas();

  const startWith = (...jobs: Job[]) => replicas.start('a', jobs);

  it('stays good while jobs of every kind run on time', async () => {
    const { health } = startWith(
      job({ name: 'often', schedule: fixedRate(10_000, { offsetMs: 0 }) }),
      job({ name: 'seldom', schedule: fixedRate(6 * MINUTE_MS, { offsetMs: 0 }) }),
      job({ name: 'dropping', schedule: fixedRate(5_000, { offsetMs: 0 }), run: lasting(replicas.clock, 20_000) }),
      job({ name: 'pausing', schedule: interval(2 * MINUTE_MS), run: lasting(replicas.clock, MINUTE_MS) }),
      job({ name: 'report', schedule: cron('*/5 * * * *', { timeZone: 'UTC' }) }),
    );
    await replicas.clock.advance(1);
    for (let minute = 0; minute < 15; minute++) {
      expect(health.report()).toEqual(WELL);
      await replicas.clock.advance(MINUTE_MS);
    }
  });

  it.each([
    ['its timeout and a lockExpiry', 3_000, 13_000, true],
    ['two lockExpiries, where it has no timeout', undefined, 20_000, false],
  ])('is bad when a run lasts longer than the next tick and %s', async (_, timeoutMs, patienceMs, isStuck) => {
    const { health } = startWith(job({ timeoutMs, run: hanging }));
    // started at 1 s, the next is due at 2 s
    await replicas.clock.advance(2_000 + patienceMs);
    expect(health.report()).toEqual(WELL);
    await replicas.clock.advance(1);
    expect(health.report().overdue).toEqual([
      {
        name: 'tick',
        dueAt: '2027-01-01T00:00:02.000Z',
        runningSince: '2027-01-01T00:00:01.000Z',
        isStuck,
      },
    ]);
  });

  it('lets the run of an interval take any time, unless it has a timeout', async () => {
    const schedule = interval(1_000);
    const { health } = startWith(
      job({ name: 'free', schedule, run: hanging }),
      job({ name: 'bound', schedule, run: hanging, timeoutMs: 3_000 }),
    );
    await replicas.clock.advance(MINUTE_MS);
    expect(health.report().overdue.map(({ name }) => name)).toEqual(['bound']);
  });

  it('is bad while the store is unreachable for longer than lockExpiry', async () => {
    const { health, store } = startWith(job());
    await replicas.clock.advance(1_000);
    store.partition();
    await replicas.clock.advance(12_000);
    expect(health.report().unreachable).toEqual([]);
    // the lock of the lost term is released while it may be alive
    await replicas.clock.advance(30_000);
    expect(health.report()).toEqual({
      unreachable: [{ store: 'memory', forMs: expect.any(Number) }],
      overdue: [],
      leaderless: ['tick'],
    });
    store.heal();
    await replicas.clock.advance(12_000);
    expect(health.report()).toEqual(WELL);
  });

  it('is good again after an outage, also if the job that noticed it was unregistered', async () => {
    const { health, store, pool } = startWith(job());
    await replicas.clock.advance(1_000);
    store.partition();
    await replicas.clock.advance(30_000);
    await Promise.all([pool.remove('tick'), replicas.clock.advance(30_000)]);
    expect(health.report().unreachable).toEqual([{ store: 'memory', forMs: expect.any(Number) }]);
    store.heal();
    await replicas.clock.advance(1_000);
    expect(health.report()).toEqual(WELL);
  });

  it('judges a job that was unregistered and registered again by its new term only', async () => {
    const slow = job({ schedule: fixedRate(10_000, { offsetMs: 0 }) });
    const { health, pool } = startWith(slow);
    await replicas.clock.advance(MINUTE_MS);
    await pool.remove('tick');
    await replicas.clock.advance(60 * MINUTE_MS);
    expect(health.report()).toEqual(WELL);
    pool.add(slow);
    await replicas.clock.advance(1);
    expect(health.report()).toEqual(WELL);
  });

  it('misses the leader of a job whose record cannot be read', async () => {
    const { health } = startWith(job({ name: 'broken' }), job({ name: 'well' }));
    await replicas.clock.advance(1_000);
    replicas.server.spoil(jobRecord('broken'));
    await replicas.clock.advance(60_000);
    expect(health.report()).toEqual({ ...WELL, leaderless: ['broken'] });
  });

  it('reports no missing leader during its own initial delay', async () => {
    const { health } = startWith(job({ initialDelayMs: MINUTE_MS }));
    await replicas.clock.advance(MINUTE_MS - 1);
    expect(health.report()).toEqual(WELL);
  });

  it('reports no missing leader while it stands back for the others', async () => {
    const { health, pool } = startWith(job());
    await replicas.clock.advance(1_500);
    pool.find('tick')?.election?.stepDown('stepped-down');
    await replicas.clock.advance(0);
    expect(health.report()).toEqual(WELL);
  });

  it('is good while a run of a lost term does not end', async () => {
    const { health, observer } = startWith(job({ timeoutMs: 3_000, run: hanging }));
    await replicas.clock.advance(1_500);
    replicas.server.loseRecord(jobRecord('tick'));
    await replicas.clock.advance(MINUTE_MS);
    expect([observer.of('leadershipGained').length, observer.of('leadershipLost').length]).toEqual([1, 1]);
    expect(health.report()).toEqual(WELL);
  });

  it('is bad while a run that does not end keeps the lock of a job that steps down', async () => {
    const { health, registry } = startWith(job({ timeoutMs: 3_000, run: hanging }));
    await replicas.clock.advance(1_500);
    void registry.stepDown('tick');
    await replicas.clock.advance(MINUTE_MS);
    expect(health.report()).toMatchObject({ overdue: [{ name: 'tick', isStuck: true }], leaderless: [] });
  });

  it('reports no missing leader for a paused or disabled job', async () => {
    const { health, registry } = startWith(job(), job({ name: 'off', enabled: false }));
    await Promise.all([registry.pause('tick'), replicas.clock.advance(100)]);
    expect(health.report()).toEqual(WELL);
  });
});

describe('A leader without a run in flight', () => {
  const AT = Date.parse('2027-01-01T03:00:00Z');
  const daily = cron('0 3 * * *', { timeZone: 'UTC' });
  const NOW = AT + 25 * 60 * MINUTE_MS;
  interface Overrides {
    readonly last?: number;
    readonly run?: Partial<RunFacts>;
    readonly storeNow?: number;
    readonly takenAt?: number;
    readonly schedule?: AnySchedule;
  }
  const overdue = ({ last = 0, run, storeNow = NOW, takenAt = AT - 1_000, schedule = daily }: Overrides = {}) => {
    const term = { storeNow: () => storeNow, own: { lastScheduledAt: last, run }, backlog: { takenAt } };
    const active = { job: job({ schedule }), election: { term, activeTerm: term }, runs: {} };
    return overdueSince(active as unknown as Parameters<typeof overdueSince>[0], NOW);
  };

  it('is late when an occurrence did not run', () => {
    expect(overdue()).toBe(AT);
  });

  it.each([
    ['that another replica has taken', { last: AT + 24 * 60 * MINUTE_MS }],
    ['that came before it led', { takenAt: AT + 24 * 60 * MINUTE_MS }],
    ['that is due by a clock which has been stepped forward', { storeNow: AT - 500 }],
    ['that came due in a run', { run: { endedAt: AT + 24 * 60 * MINUTE_MS } }],
  ])('is not late for an occurrence %s', (_, overrides) => {
    expect(overdue(overrides)).toBeUndefined();
  });

  it('is late when the delay of an interval has passed long ago', () => {
    const schedule = interval(1_000);
    expect(overdue({ schedule, takenAt: NOW - 30_000 })).toBe(NOW - 30_000);
    expect(overdue({ schedule, takenAt: NOW - 20_000 })).toBeUndefined();
    expect(overdue({ schedule, run: { endedAt: NOW - 30_000 } })).toBe(NOW - 29_000);
    expect(overdue({ schedule, run: { endedAt: NOW - 21_000 } })).toBeUndefined();
  });
});
