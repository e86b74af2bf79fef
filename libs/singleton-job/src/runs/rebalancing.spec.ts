import { describe, expect, it } from '@jest/globals';
import { TestCandidate } from '../../../../test/support/core-replicas.js';
import { job } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { type RunInfo } from '../base/events/run-info.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { ONCE, whileLeader } from '../schedule/without-ticks.js';

const MINUTE_MS = 60_000;
const everyMinute = cron('* * * * *', 'UTC');

/** Random numbers that are the same in each test and differ between replicas. */
function chance(seed: number): () => number {
  let state = seed * 7_919 + 17;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

const hanging = (): Promise<never> => new Promise(() => undefined);

/** Jobs of a minute, due at times that are spread over it. */
const spread = (count: number, overrides: Parameters<typeof job>[0] = {}): Job[] =>
  Array.from({ length: count }, (_, index) =>
    job({
      name: `job-${index}`,
      schedule: fixedRate(MINUTE_MS, Math.floor((index * MINUTE_MS) / count)),
      ...overrides,
    }),
  );

const ledBy = (...replicas: readonly TestReplica[]) =>
  replicas.map(({ replica }) => replica.elections.filter(({ activeTerm }) => activeTerm !== undefined).length);
const movedBy = (...replicas: readonly TestReplica[]) =>
  replicas.flatMap(({ observer }) => observer.of('leadershipReleased').filter(({ reason }) => reason === 'rebalance'));
const runsOf = (...replicas: readonly TestReplica[]) => replicas.flatMap(({ observer }) => observer.of('runStarted'));
const isLate = ({ scheduledAt, startedAt }: RunInfo) => startedAt.getTime() - scheduledAt.getTime() > 100;

/** All jobs are led, and the numbers differ by one at most. */
function expectEven(led: readonly number[], sum: number): void {
  expect(led.reduce((some, count) => some + count)).toBe(sum);
  expect(Math.max(...led) - Math.min(...led)).toBeLessThanOrEqual(1);
}

describe('Leaderships', () => {
  const replicas = useReplicas();
  let started = 0;
  /** With random numbers of its own. */
  const start = (jobs: readonly Job[], rebalance = true) => {
    started += 1;
    return replicas.start(`r${started}`, jobs, { options: { rebalance }, random: chance(started) });
  };
  const advance = (minutes: number) => replicas.clock.advance(minutes * MINUTE_MS);

  /** The first one leads all jobs. */
  const startApart = async (count: number, jobs: readonly Job[]): Promise<[TestReplica, ...TestReplica[]]> => {
    const first = start(jobs);
    await replicas.clock.advance(100);
    return [first, ...Array.from({ length: count - 1 }, () => start(jobs))];
  };

  it('of nine jobs on three replicas even out, and no tick is lost', async () => {
    const schedules = [fixedRate(MINUTE_MS, 20_000), interval(MINUTE_MS), everyMinute];
    const jobs = Array.from({ length: 9 }, (_, index) =>
      job({ name: `job-${index}`, schedule: schedules[index % 3] ?? everyMinute }),
    );
    const all = await startApart(3, jobs);
    expect(ledBy(...all)).toEqual([9, 0, 0]);
    await advance(9.5);
    expectEven(ledBy(...all), 9);
    expect(movedBy(...all)).toHaveLength(6);
    const runs = runsOf(...all);
    for (const { name, schedule } of jobs) {
      const count = runs.filter((run) => run.job === name).length;
      expect([name, count]).toEqual([name, schedule.kind === 'cron' ? 9 : 10]);
    }
    expect(runs.filter(isLate)).toEqual([]);
  });

  it('of jobs of @Once even out too, as nothing of them runs any more', async () => {
    const all = await startApart(2, spread(4, { schedule: ONCE }));
    await advance(5);
    expect(ledBy(...all)).toEqual([2, 2]);
  });

  it('of several leaders at a time do not fill one replica', async () => {
    const jobs = spread(12);
    const all = [0, 3, 6, 9].map((first) => start(jobs.slice(first, first + 3)));
    await replicas.clock.advance(100);
    for (const { pool } of all) for (const one of jobs) if (pool.find(one.name) === undefined) pool.add(one);
    const last = start(jobs);
    await advance(10);
    expectEven(ledBy(...all, last), 12);
    expect(movedBy(last)).toEqual([]);
  });

  it('stay if they differ by one, if the others are gone, or if it is not wanted', async () => {
    const [a, b] = [start(spread(1)), start([...spread(1), job()])];
    const dead = start([]);
    const off = start([...spread(1), job(), job({ name: 'off' })], false);
    dead.kill();
    await advance(10);
    expect([ledBy(a, b, off).toSorted(), movedBy(a, b, off)]).toEqual([[1, 1, 1], []]);
  });

  it.each<[string, Parameters<typeof job>[0]]>([
    ['in a run', { schedule: fixedRate(20_000, 5_000), run: hanging }],
    ['due within 5 s', { schedule: fixedRate(5_000, 0) }],
    ['without ticks', { schedule: whileLeader(1_000) }],
  ])('stay for jobs %s', async (_, overrides) => {
    const all = await startApart(2, spread(4, overrides));
    await advance(5);
    expect(ledBy(...all)).toEqual([4, 0]);
  });

  it('stay while the store does not answer', async () => {
    const [a] = await startApart(2, spread(4));
    // before the heartbeat at 9 s, so that it is known when the round ends
    await replicas.clock.advance(8_000);
    a.store.outcome = () => 'STORE_UNREACHABLE';
    await replicas.clock.advance(6_500);
    expect([ledBy(a), movedBy(a)]).toEqual([[4], []]);
  });

  it('stay for the first 11 s, in which each record is seen', async () => {
    const late = () =>
      replicas.start(`r${(started += 1)}`, spread(4), { options: { rebalance: true }, random: () => 0.9 });
    const a = late();
    await replicas.clock.advance(100);
    late();
    await replicas.clock.advance(10_900);
    expect(movedBy(a)).toEqual([]);
    await replicas.clock.advance(3_000);
    expect(movedBy(a)).toHaveLength(1);
  });

  it('stay, however many locks their replica holds', async () => {
    const [a] = await startApart(2, spread(1));
    for (const name of ['x', 'y', 'z']) new TestCandidate(`${name}:lock`, a.replica, () => undefined, 'lock');
    await advance(5);
    expect([ledBy(a), movedBy(a)]).toEqual([[4], []]);
  });

  it('move at most once in ten minutes, also when their replica has crashed', async () => {
    const jobs = spread(4);
    const [a, ...others] = await startApart(2, jobs);
    await advance(2);
    expect(ledBy(a, ...others)).toEqual([2, 2]);
    for (const other of others) other.kill();
    await replicas.clock.advance(15_000);
    const next = start(jobs);
    await advance(5);
    expect(ledBy(a, next)).toEqual([2, 2]);
    // not those that the other one has led
    expect(new Set(movedBy(a).map((move) => move.job)).size).toBe(4);
  });

  it('go to another replica if that to which they are given is gone', async () => {
    const [a, ...others] = await startApart(3, spread(2));
    await replicas.clock.advance(10_000);
    others[0]?.kill();
    await replicas.clock.advance(4_000);
    expect(ledBy(a, ...others.slice(1))).toEqual([1, 1]);
  });

  it('stay beside a replica that does not want them, but for one in ten minutes, and no tick is lost', async () => {
    const [a] = [start(spread(9)), start([job()])];
    await advance(29.99);
    expect(ledBy(a)).toEqual([9]);
    // one in ten minutes
    expect(movedBy(a)).toHaveLength(3);
    const runs = runsOf(a);
    expect([runs.length, runs.filter(isLate)]).toEqual([9 * 30 - 1, []]);
  });

  it.each(['pause', 'stepDown'] as const)('go on to a replica that took one and lost it by a %s', async (command) => {
    const [a, ...others] = await startApart(2, spread(20));
    await replicas.clock.advance(40_000);
    const [{ job: moved } = { job: '' }] = movedBy(a);
    void a.registry[command](moved).catch(() => undefined);
    await advance(5);
    expectEven(ledBy(a, ...others), command === 'pause' ? 19 : 20);
  });
});
