import { describe, expect, it } from '@jest/globals';
import { type RunInfo } from '../base/events/run-info.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/while-leader.js';
import { type TestReplica, type TestReplicaOptions } from '../testing/replicas/test-replica.js';
import { leadership, timesOf } from '../testing/specs/event-lines.js';
import { job } from '../testing/specs/job.js';
import { useReplicas } from '../testing/specs/use-replicas.js';

const MINUTE_MS = 60_000;
const everyMinute = cron('* * * * *', { timeZone: 'UTC', jobName: 'cron' });

/** Random numbers that are the same in each test and differ between replicas. */
function chance(seed: number): () => number {
  let state = seed * 7_919 + 17;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const ON: TestReplicaOptions = { options: { rebalance: true } };
/** Without random numbers a replica offers jobs after 45 s, and gives them away a second later. */
const OFFERED_MS = 45_000;
const GIVEN_MS = OFFERED_MS + 1_000;

/** Jobs of a minute, due at times that are spread over it. */
const spread = (count: number, overrides: Partial<Job> = {}): Job[] =>
  Array.from({ length: count }, (_, index) =>
    job({
      name: `job-${index}`,
      schedule: fixedRate(MINUTE_MS, { offsetMs: Math.floor((index * MINUTE_MS) / count) }),
      ...overrides,
    }),
  );

const leadBy = (...replicas: readonly TestReplica[]) => replicas.map(({ leadership: { jobs } }) => jobs.leading);
const movedBy = (...replicas: readonly TestReplica[]) =>
  replicas.flatMap(({ name, observer }) =>
    observer.events.flatMap(({ atMs, event, payload }) =>
      event === 'leadershipReleased' && payload.reason === 'rebalance' ? [{ atMs, by: name, job: payload.job }] : [],
    ),
  );
const runsOf = (...replicas: readonly TestReplica[]) => replicas.flatMap(({ observer }) => observer.of('runStarted'));
const isLate = ({ scheduledAt, startedAt }: RunInfo) => startedAt.getTime() - scheduledAt.getTime() > 100;
const sent = ({ store }: TestReplica, message: string) => store.sent.filter(({ name }) => name === message).length;

describe('Leaderships', () => {
  const replicas = useReplicas();
  let started = 0;
  /** With random numbers of its own. */
  const start = (jobs: readonly Job[]) => {
    started += 1;
    return replicas.start(`r${started}`, jobs, { ...ON, random: chance(started) });
  };
  const advance = (minutes: number) => replicas.clock.advance(minutes * MINUTE_MS);

  it('of nine jobs on three replicas that start together even out, and no tick is lost', async () => {
    const schedules = [fixedRate(MINUTE_MS, { offsetMs: 20_000 }), interval(MINUTE_MS), everyMinute];
    const jobs = Array.from({ length: 9 }, (_, index) =>
      job({ name: `job-${index}`, schedule: schedules[index % 3] ?? everyMinute }),
    );
    const all = [start(jobs), start(jobs), start(jobs)];
    await advance(0.5);
    expect(leadBy(...all)).toEqual([9, 0, 0]);
    await advance(9);
    expect(leadBy(...all)).toEqual([3, 3, 3]);
    expect(movedBy(...all)).toHaveLength(6);
    const runs = runsOf(...all);
    for (const { name, schedule } of jobs) {
      const count = runs.filter((run) => run.job === name).length;
      expect([name, count]).toEqual([name, schedule.kind === 'cron' ? 9 : 10]);
    }
    expect(runs.filter(isLate)).toEqual([]);
  });

  it('of 100 jobs on 10 replicas differ by two at most 15 min after a first start', async () => {
    const all = Array.from({ length: 10 }, () => start(spread(100)));
    // the tick at 15 min may come a moment later
    await advance(14.999);
    expectEven(leadBy(...all));
    const runs = runsOf(...all);
    expect([runs.length, runs.filter(isLate)]).toEqual([1_499, []]);
    const moved = movedBy(...all).map((move) => move.job);
    expect(new Set(moved).size).toBe(moved.length);
  }, 60_000);

  it('of 100 jobs on 10 replicas differ by two at most 15 min after a roll-out', async () => {
    const before = Array.from({ length: 10 }, () => start(spread(100)));
    const after: TestReplica[] = [];
    for (const old of before) {
      after.push(start(spread(100)));
      await advance(0.1);
      void old.pool.stop();
      await advance(0.1);
    }
    await advance(15);
    expectEven(leadBy(...after));
    expect(runsOf(...before, ...after).filter(isLate)).toEqual([]);
  }, 60_000);

  it('stay with a sole competitor beside other replicas, which offers its jobs ever less often', async () => {
    const a = start(spread(9));
    const others = [start(spread(20).slice(18, 19)), start(spread(20).slice(19))];
    await advance(60);
    expect(leadBy(a)).toEqual([9]);
    expect(sent(a, 'offer')).toBeGreaterThan(5);
    expect(sent(a, 'offer')).toBeLessThan(14);
    expect(others.map((other) => sent(other, 'bid'))).toEqual([0, 0]);
  });

  it('stay if they differ by one, or rebalance is off', async () => {
    const [a, b] = [start(spread(1)), replicas.start('b', [...spread(1), job()])];
    await advance(10);
    expect([leadBy(a, b), movedBy(a, b)]).toEqual([[1, 1], []]);
    replicas.begin();
    const off = [replicas.start('a', spread(9)), replicas.start('b', spread(9))];
    await advance(10);
    expect(leadBy(...off)).toEqual([9, 0]);
  });

  it.each<[string, Partial<Job>]>([
    ['in a run', { schedule: interval(MINUTE_MS), run: () => new Promise(() => undefined) } as Partial<Job>],
    ['due within 5 s', { schedule: fixedRate(5_000, { offsetMs: 0 }) }],
    ['due within 5 s, as an interval', { schedule: interval(5_000) }],
    ['of another lockExpiry', { lockExpiryMs: 20_000 }],
    ['without ticks', { schedule: whileLeader(1_000) }],
  ])('stay for jobs %s', async (_, overrides) => {
    const jobs = spread(4, overrides);
    const [a, b] = [start(jobs), start(jobs)];
    await advance(10);
    expect([leadBy(a, b), sent(a, 'offer')]).toEqual([[4, 0], 0]);
  });

  it('stay for a cron job whose occurrence is due and not claimed yet', async () => {
    const schedule = cron('44 * * * * *', { timeZone: 'UTC', jobName: 'cron' });
    const jobs = spread(2, { schedule });
    const a = replicas.start('a', jobs, ON);
    replicas.start('b', jobs, ON);
    await replicas.clock.advance(43_900);
    a.store.delayMs = 3_000;
    await replicas.clock.advance(2_000);
    expect(sent(a, 'offer')).toBe(0);
    a.store.delayMs = 0;
    await advance(1);
    expect(sent(a, 'offer')).toBe(1);
  });

  it('move at most once in ten minutes, also when their replica then leads more', async () => {
    const jobs = spread(4);
    const [a, b] = [start(jobs), start(jobs)];
    await advance(3);
    expect(leadBy(a, b)).toEqual([2, 2]);
    await a.pool.stop();
    const others = [start(jobs), start(jobs), start(jobs)];
    await advance(6);
    // the two that b led from a stop, not those that moved
    expect(leadBy(b, ...others).toSorted()).toEqual([0, 1, 1, 2]);
    const moves = movedBy(a, b, ...others);
    expect(new Set(moves.map((move) => move.job)).size).toBe(4);
    await advance(5);
    expect(leadBy(b, ...others)).toEqual([1, 1, 1, 1]);
  });
});

describe('A hand-over', () => {
  const replicas = useReplicas();
  /** Jobs of a replica that leads so many that it does not answer. */
  const BUSY = [...spread(2), job({ name: 'one' }), job({ name: 'two' })];
  const start = (name: string, jobs: readonly Job[] = spread(2), options: TestReplicaOptions = {}) =>
    replicas.start(name, jobs, { ...ON, ...options });

  it('gives the job to the replica that answered, at once, and the others send no request', async () => {
    const a = start('a');
    const c = start('c', BUSY, { random: () => 0.001 });
    const b = start('b', spread(2), { random: () => 0.9 });
    await replicas.clock.advance(OFFERED_MS);
    const before = c.store.count('acquire');
    await replicas.clock.advance(5_000);
    expect(leadership(a).at(-1)).toBe(`${GIVEN_MS} leadershipReleased job-0 rebalance`);
    expect(leadership(b)).toEqual([`${GIVEN_MS} leadershipGained`]);
    expect(c.store.count('acquire')).toBe(before);
  });

  it('to a replica that is gone leaves the job to the others, after 250 ms', async () => {
    const [a, b, c] = [start('a'), start('b'), start('c', BUSY)];
    await replicas.clock.advance(GIVEN_MS - 500);
    b.kill();
    await replicas.clock.advance(2_000);
    expect(leadBy(a, c)).toEqual([1, 3]);
    const takenAtMs = timesOf(c, 'leadershipGained').at(-1);
    expect(takenAtMs).toBeGreaterThanOrEqual(GIVEN_MS + 250);
    expect(takenAtMs).toBeLessThan(GIVEN_MS + 300);
  });

  it('to a replica that is gone leaves the job where it was if there is no other, after 2 s', async () => {
    const [a, b] = [start('a'), start('b')];
    await replicas.clock.advance(GIVEN_MS - 500);
    b.kill();
    await replicas.clock.advance(3_000);
    expect(leadership(a).slice(-2)).toEqual([
      `${GIVEN_MS} leadershipReleased job-0 rebalance`,
      `${GIVEN_MS + 2_000} leadershipGained job-0`,
    ]);
    // it has moved, so the other one is given next
    start('c');
    await replicas.clock.advance(5 * MINUTE_MS);
    expect(movedBy(a).map((move) => move.job)).toEqual(['job-0', 'job-1']);
  });

  it.each(['offer', 'bid', 'hand-over'])('does not begin if the message %s is lost', async (lost) => {
    const [a, b] = [start('a'), start('b')];
    for (const { store } of [a, b]) store.outcome = (_, name) => (name === lost ? 'STORE_MISCONFIGURED' : 'answered');
    await replicas.clock.advance(10 * MINUTE_MS);
    expect(leadBy(a, b)).toEqual([2, 0]);
    expect(movedBy(a)).toEqual([]);
  });

  it('that only the taker does not receive is a release as any other, and counts as a move', async () => {
    const [a, b] = [start('a'), start('b', spread(2), { random: () => 0.5 })];
    await replicas.clock.advance(GIVEN_MS - 300);
    b.store.losesMessages = true;
    await replicas.clock.advance(500);
    b.store.losesMessages = false;
    await replicas.clock.advance(10_000);
    expect(leadBy(a, b)).toEqual([1, 1]);
    const { job: moved } = movedBy(a)[0] ?? {};
    await a.pool.stop();
    start('c');
    await replicas.clock.advance(5 * MINUTE_MS);
    expect(movedBy(b).map((move) => move.job)).toEqual(['job-0', 'job-1'].filter((name) => name !== moved));
  });

  it('does not begin without messages, or in the first lockExpiry after a restart of the store', async () => {
    const [a, b] = [start('a'), start('b')];
    a.store.unsubscribe();
    await replicas.clock.advance(OFFERED_MS - 5_000);
    a.store.subscribe();
    replicas.server.restart(replicas.server.snapshot());
    await replicas.clock.advance(10_000);
    expect([sent(a, 'offer'), sent(b, 'bid')]).toEqual([1, 0]);
    await replicas.clock.advance(3 * MINUTE_MS);
    expect(leadBy(a, b)).toEqual([1, 1]);
    a.store.unsubscribe();
    await a.registry.stepDown('job-1');
    await replicas.clock.advance(5 * MINUTE_MS);
    expect(sent(a, 'offer')).toBe(2);
  });

  it('is not for a replica that is disabled, still waits to compete, is stopping, or has another lockExpiry', async () => {
    const jobs = spread(2);
    const a = start('a');
    const others = [
      start('disabled', jobs, { options: { rebalance: true, enabled: false } }),
      start('waiting', spread(2, { initialDelayMs: 10 * MINUTE_MS })),
      start('stopping', jobs),
      start('shorter', spread(2, { lockExpiryMs: 9_000 })),
    ];
    await replicas.clock.advance(1_000);
    void others[2]?.pool.stop();
    await replicas.clock.advance(3 * MINUTE_MS);
    expect(sent(a, 'offer')).toBeGreaterThan(1);
    expect(others.map((other) => sent(other, 'bid'))).toEqual([0, 0, 0, 0]);
  });

  it('is not for a paused job', async () => {
    const jobs = spread(3);
    const [a, b] = [start('a', jobs), start('b', jobs)];
    await a.registry.pause('job-0');
    await replicas.clock.advance(5 * MINUTE_MS);
    expect(movedBy(a).map((move) => move.job)).not.toContain('job-0');
    expect(leadBy(a, b)).toEqual([1, 1]);
  });

  it('of several leaders at a time does not fill one replica', async () => {
    const all = [0, 3, 6, 9].map((first) => start(`r${first}`, spread(12).slice(first, first + 3)));
    const last = start('last', spread(12));
    await replicas.clock.advance(10 * MINUTE_MS);
    expect(leadBy(...all, last).toSorted()).toEqual([2, 2, 2, 3, 3]);
    expect(movedBy(last)).toEqual([]);
  });
});

/** All jobs are led, and the numbers differ by two at most. */
function expectEven(led: readonly number[]): void {
  expect({ led, sum: led.reduce((sum, count) => sum + count) }).toEqual({ led, sum: 100 });
  expect({ led, isEven: Math.max(...led) - Math.min(...led) <= 2 }).toEqual({ led, isEven: true });
}
