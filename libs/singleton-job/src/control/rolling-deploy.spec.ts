import { describe, expect, it } from '@jest/globals';
import { jobRecord } from '../leadership/record.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const every = (seconds: number) => cron(`*/${String(seconds)} * * * * *`, { timeZone: 'UTC' });
const second = (date: Date) => Math.round((date.getTime() - Date.UTC(2027, 0, 1)) / 1_000);

const startedBy = (...replicas: TestReplica[]) =>
  replicas.flatMap(({ observer }) => observer.of('runStarted').map(({ scheduledAt }) => second(scheduledAt)));
const missedBy = (...replicas: TestReplica[]) =>
  replicas.flatMap(({ name, observer }) =>
    observer
      .of('occurrencesMissed')
      .map(
        ({ reason, from, to, count }) =>
          `${name} ${reason} (${String(second(from))}, ${String(second(to))}] ${String(count)}`,
      ),
  );

const SCHEDULES = {
  'a cron of 10 s': every(10),
  'a cron of 15 s': every(15),
  'the same cron in another zone': cron('*/10 * * * * *', { timeZone: 'Asia/Singapore' }),
  'a grid of 1 s': fixedRate(1_000, { offsetMs: 0 }),
  'a grid of 1.5 s': fixedRate(1_500, { offsetMs: 0 }),
  'a grid with an offset': fixedRate(1_000, { offsetMs: 300 }),
  'an interval of 1 s': interval(1_000),
  'an interval of 5 s': interval(5_000),
} as const;
type Name = keyof typeof SCHEDULES;

const CHANGES: readonly (readonly [Name, Name])[] = [
  ['a cron of 10 s', 'a cron of 15 s'],
  ['a cron of 10 s', 'the same cron in another zone'],
  ['a cron of 10 s', 'a grid of 1 s'],
  ['a cron of 10 s', 'an interval of 1 s'],
  ['a grid of 1 s', 'a cron of 15 s'],
  ['a grid of 1 s', 'a grid of 1.5 s'],
  ['a grid of 1 s', 'a grid with an offset'],
  ['a grid of 1 s', 'an interval of 5 s'],
  ['an interval of 1 s', 'an interval of 5 s'],
  ['an interval of 5 s', 'a grid of 1.5 s'],
  ['an interval of 5 s', 'a cron of 10 s'],
];

describe('In a rolling deploy', () => {
  const replicas = useReplicas();

  /** A job that notes in `most` how many of its runs, on whichever replica, were in flight at once. */
  const watched = () => {
    const seen = { inFlight: 0, most: 0 };
    const takes = lasting(replicas.clock, 200);
    const of = (overrides: Partial<Omit<Job, 'invoke'>>): Job =>
      job({
        name: 'report',
        run: async (run) => {
          seen.inFlight += 1;
          seen.most = Math.max(seen.most, seen.inFlight);
          await takes(run);
          seen.inFlight -= 1;
        },
        ...overrides,
      });
    return { seen, of };
  };

  it.each(CHANGES)('from %s to %s and back, no run overlaps and no occurrence starts twice', async (before, after) => {
    const { seen, of } = watched();
    const old = of({ schedule: SCHEDULES[before] });
    const changed = of({ schedule: SCHEDULES[after] });
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
  });

  it('both schedules can exist side by side while no replica stops', async () => {
    const a = replicas.start('a', [job({ name: 'report', schedule: every(10) })]);
    const b = replicas.start('b', [job({ name: 'report', schedule: every(15) })]);
    await replicas.clock.advance(600_500);
    expect(startedBy(a)).toHaveLength(60);
    expect(startedBy(b)).toEqual([]);
    expect(missedBy(a, b)).toEqual([]);
  });

  it('the new schedule begins at once, and no occurrence of the old one is reported', async () => {
    const a = replicas.start('a', [job({ name: 'report', schedule: every(10) })]);
    const b = replicas.start('b', [job({ name: 'report', schedule: every(15) })]);
    await replicas.clock.advance(35_000);
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(40_000);
    // its last heartbeat was at 33 s: there was no leader from the end of its lease (42 s) to the end of its session
    // (43 s)
    expect(startedBy(a)).toEqual([10, 20, 30]);
    expect(missedBy(b)).toEqual([]);
    expect(startedBy(b)).toEqual([45, 60, 75]);
  });

  describe('that changes how long the lock lives', () => {
    const long = { lockExpiryMs: 10_000 };
    const short = { lockExpiryMs: 2_000 };
    const options = { options: { heartbeatInterval: 500, lockExpiry: 2_000 } };

    it.each([
      ['longer', long, short, 10_000],
      ['shorter', short, long, 2_000],
    ])(
      'each replica uses its own: an old leader with %s is replaced after its session',
      async (_which, before, after, livesMs) => {
        const { seen, of } = watched();
        const a = replicas.start('a', [of(before)], options);
        const b = replicas.start('b', [of(after)], options);
        await replicas.clock.advance(20_100);
        a.store.outcome = () => 'request-lost';
        await replicas.clock.advance(20_000);
        const lost = a.observer.events.find(({ event }) => event === 'leadershipLost')?.atMs ?? Infinity;
        const gained = b.observer.events.find(({ event }) => event === 'leadershipGained')?.atMs ?? Infinity;
        expect(lost).toBe(20_000 + livesMs * 0.9);
        expect(gained).toBeGreaterThanOrEqual(20_000 + livesMs);
        // sessions that live for another time are looked at with the next heartbeat
        expect(gained).toBeLessThan(20_000 + livesMs + 550);
        expect(seen.most).toBe(1);
      },
    );
  });

  it("that changes 'overlap', each leader uses its own version, and no runs overlap", async () => {
    const run = lasting(replicas.clock, 2_500, { obedient: true });
    const a = replicas.start('a', [job({ run, overlap: 'skip' })]);
    const b = replicas.start('b', [job({ run, overlap: 'cancel-other' })]);
    await replicas.clock.advance(10_100);
    void a.pool.stop();
    await replicas.clock.advance(10_000);
    expect(a.observer.of('runCancelled')).toEqual([]);
    expect(a.observer.of('tickDropped').length).toBeGreaterThan(3);
    expect(b.observer.of('runCancelled').every(({ code }) => code === 'SUPERSEDED')).toBe(true);
    expect(b.observer.of('runCancelled').length).toBeGreaterThan(3);
    const endOfA = Math.max(
      ...a.observer.events.filter(({ event }) => event === 'runSucceeded').map(({ atMs }) => atMs),
    );
    const startOfB = b.observer.events.find(({ event }) => event === 'runStarted')?.atMs ?? -Infinity;
    expect(startOfB).toBeGreaterThanOrEqual(endOfA);
  });

  it('a version without the job never reads its record', async () => {
    const a = replicas.start('a', [job(), job({ name: 'report' })]);
    const without = replicas.start('b', [job()]);
    const c = replicas.start('c', [job(), job({ name: 'report' })]);
    await replicas.clock.advance(5_500);
    await a.pool.stop();
    await replicas.clock.advance(5_000);
    expect(without.store.sent.filter(({ names }) => names.includes(jobRecord('report')))).toEqual([]);
    expect(c.observer.of('leadershipGained').map((gained) => gained.job)).toContain('report');
    const runs = [a, without, c]
      .flatMap(({ observer }) => observer.of('runStarted'))
      .filter((run) => run.job === 'report');
    expect(runs.map(({ scheduledAt }) => second(scheduledAt))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('a job that was renamed is another job: both run until the old version is gone', async () => {
    const a = replicas.start('a', [job({ name: 'report', schedule: every(10) })]);
    await replicas.clock.advance(15_000);
    const b = replicas.start('b', [job({ name: 'daily-report', schedule: every(10) })]);
    await replicas.clock.advance(20_000);
    await a.pool.stop();
    await replicas.clock.advance(20_000);
    expect(startedBy(a)).toEqual([10, 20, 30]);
    expect(startedBy(b)).toEqual([20, 30, 40, 50]);
    // it is new, and has no past to make up for
    expect(missedBy(a, b)).toEqual([]);
  });
});
