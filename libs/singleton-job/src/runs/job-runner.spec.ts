import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { job, lasting } from '../../../../test/support/job.js';
import { type TestReplica } from '../../../../test/support/test-replica.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';
import { LeaseLostError, RunAbortedError } from '../base/errors/run.errors.js';
import { JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';

const runs = (lines: readonly string[]) => lines.filter((line) => /run/.test(line));
const once = interval(3_600_000);
const explode = (): never => {
  throw new Error('looked at');
};

const replicas = useReplicas();

describe('A follower', () => {
  it('tells once who leads, also through an outage and a restart of the store', async () => {
    const [a, b] = await replicas.leaderAndFollower([job()], 5_000);
    b.store.partition();
    await replicas.clock.advance(20_000);
    b.store.heal();
    replicas.server.restart(replicas.server.snapshot());
    await replicas.clock.advance(20_000);
    expect(b.observer.of('leaderChanged')).toEqual([{ job: 'tick', leader: 'a' }]);
    await Promise.all([a.registry.stepDown('tick'), replicas.clock.advance(100)]);
    await Promise.all([b.registry.stepDown('tick'), replicas.clock.advance(3_000)]);
    expect(a.observer.of('leaderChanged')).toEqual([{ job: 'tick', leader: 'b' }]);
    expect(b.observer.of('leaderChanged').map(({ leader }) => leader)).toEqual(['a', 'a']);
  });
});

describe('A run whose leader is gone', () => {
  const everyMinute = cron('* * * * *');
  const MINUTE = 60_000;

  it.each<[string, Job['schedule'], number, ('kill' | 'cut off' | 'trigger')?, number?]>([
    ['once, by the next leader: a cron job', everyMinute, MINUTE + 1],
    ['once: a trigger', everyMinute, 1, 'trigger'],
    ['once: a short interval that has lasted 10 s', interval(1_000), 11_000],
    ['once: a leader that lost its lease', everyMinute, MINUTE + 1, 'cut off'],
    ['not, if its start was not written: a short interval that has not lasted 10 s', interval(1_000), 5_000, 'kill', 0],
  ])('is reported %s', async (_, schedule, afterMs, how = 'kill', times = 1) => {
    const work = job({ schedule, run: lasting(replicas.clock, 2 * MINUTE) });
    const [a, b] = await replicas.leaderAndFollower([work], afterMs);
    if (how === 'trigger') await Promise.all([a.registry.trigger('tick'), replicas.clock.advance(10)]);
    if (how === 'cut off') a.store.partition();
    else a.kill();
    await replicas.clock.advance(12_000);
    // the leader after the next one says nothing
    const c = replicas.start('c', [work]);
    b.kill();
    await replicas.clock.advance(12_000);
    for (const { observer } of [b, c]) expect(observer.of('leadershipGained')).toHaveLength(1);
    const reports = (by: TestReplica) => by.observer.of('runInterrupted').filter((report) => report.by === 'a');
    expect([reports(b).length, reports(c).length]).toEqual([times, 0]);
    for (const { startedAt, occurrence } of reports(b)) {
      expect(startedAt.getSeconds()).toBe(0);
      const isOccurrence = schedule.kind === 'cron' && how !== 'trigger';
      expect(occurrence).toEqual(isOccurrence ? startedAt : null);
    }
  });
});

describe('A run', () => {
  it('gets its job, kind, cause, times and fencing token', async () => {
    const given: JobRun[] = [];
    const a = await replicas.leader([job({ run: (run) => given.push(run) })], 1_000);
    const at = new Date('2027-01-01T00:00:01.000Z');
    const fencingToken = a.observer.of('leadershipGained')[0]?.fencingToken;
    const run = { job: 'tick', kind: 'fixed-rate', cause: 'schedule', scheduledAt: at, startedAt: at, fencingToken };
    expect(given).toEqual([expect.any(JobRun)]);
    expect(given).toMatchObject([run]);
    expect(fencingToken).toBeGreaterThan(0);
  });

  it.each<[string, number | undefined, string, boolean, string]>([
    ['after its timeout, and is cancelled when it then rejects', 2_000, 'TIMEOUT', true, '2000 runCancelled'],
    ['and succeeds if it returns in spite of its signal', 2_000, 'TIMEOUT', false, '12000 runSucceeded'],
    ['at the safe deadline, when its lease is not renewed', undefined, 'LEASE_LOST', true, '9000 runCancelled'],
  ])('is aborted %s', async (_, timeoutMs, code, obedient, end) => {
    const reasons: unknown[] = [];
    const wait = lasting(replicas.clock, 12_000, { obedient });
    const run = (given: JobRun) => {
      given.signal.addEventListener('abort', () => reasons.push(given.signal.reason));
      return wait(given);
    };
    const a = await replicas.leader([job({ schedule: once, warnAfterMs: undefined, timeoutMs, run })], 100);
    if (timeoutMs === undefined) a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(12_000);
    expect(runs(a.observer.eventLines).at(-1)).toMatch(end);
    if (!obedient) expect(a.observer.of('runSucceeded')).toMatchObject([{ abortCode: code }]);
    expect(reasons).toEqual([expect.any(RunAbortedError)]);
    expect(reasons).toMatchObject([{ code, job: 'tick' }]);
  });

  it('may wait for many things at once with its signal', async () => {
    const warnings: unknown[] = [];
    const note = (warning: Error) => warnings.push(warning.name);
    process.on('warning', note);
    const run = ({ signal }: JobRun) => Promise.all(Array.from({ length: 50 }, () => sleep(1, null, { signal })));
    const a = await replicas.leader([job({ schedule: once, run })], 100);
    await sleep(10);
    process.off('warning', note);
    expect([a.observer.of('runSucceeded').length, warnings]).toEqual([1, []]);
  });

  it('that throws nothing fails with its place', async () => {
    const run = () => {
      throw undefined as unknown as Error;
    };
    const a = await replicas.leader([job({ schedule: once, run })], 100);
    const errors = a.observer.of('runFailed').map(({ error }) => String(error));
    expect(errors).toEqual(['Error: Ticks.tick threw undefined: throw an Error, which has a stack']);
  });

  describe('asks assertLeader()', () => {
    /** A run that has begun, of a lease that was confirmed. */
    const begin = async () => {
      let begun: JobRun | undefined;
      const run = (given: JobRun) => lasting(replicas.clock, 15_000)((begun = given));
      const a = await replicas.leader([job({ schedule: once, run })], 100);
      expect(() => begun?.assertLeader()).not.toThrow();
      return { a, run: begun as unknown as JobRun };
    };
    const assertLeader = (run: JobRun) => () => {
      run.assertLeader();
    };

    it('whether its lease is over, also before a timer fires', async () => {
      const { a, run } = await begin();
      a.store.outcome = () => 'request-lost';
      const blocked = replicas.clock.block(10_000);
      expect(run.signal.aborted).toBe(false);
      expect(assertLeader(run)).toThrow(LeaseLostError);
      await blocked;
      expect(run.signal.aborted).toBe(true);
    });

    it('whether the host was suspended; an NTP step aborts nothing', async () => {
      const { a, run } = await begin();
      a.clock.aheadMs = 60_000;
      expect(assertLeader(run)).toThrow(LeaseLostError);
      await replicas.clock.advance(11_000);
      expect(assertLeader(run)).not.toThrow();
      expect([run.wasRefused, run.signal.aborted]).toEqual([false, false]);
    });

    it('also after its end', async () => {
      const { a, run } = await begin();
      await replicas.clock.advance(16_000);
      expect(assertLeader(run)).not.toThrow();
      await a.pool.stop();
      expect(assertLeader(run)).toThrow(LeaseLostError);
      expect(run.signal.aborted).toBe(false);
    });

    it('and is cancelled when it then throws, also before its signal fires', async () => {
      const run = (given: JobRun): void => {
        void replicas.clock.block(9_000);
        given.assertLeader();
      };
      const a = await replicas.leader([job({ schedule: once, run })], 500);
      expect(runs(a.observer.eventLines).at(1)).toMatch(/runCancelled schedule LEASE_LOST$/);
    });
  });

  it.each<[string, Partial<Job>, number, readonly (readonly [number, string?])[]]>([
    ['once, if every run is slow', {}, 60_000, [[8_000], [8_000]]],
    ['after its warnAfter, with any lockExpiry', { warnAfterMs: 500, lockExpiryMs: 60_000 }, 120_000, [[500]]],
    ['never, without a warnAfter', { warnAfterMs: undefined }, 120_000, []],
    ['with the reason of its abort', { timeoutMs: 500 }, 120_000, [[8_000, 'TIMEOUT']]],
    ['once more, if it continues after its abort', { timeoutMs: 10_000 }, 120_000, [[8_000], [11_000, 'TIMEOUT']]],
  ])('that is slow is reported %s', async (_, definition, runMs, reports) => {
    const run = lasting(replicas.clock, runMs);
    const a = await replicas.leader([job({ schedule: interval(1_000), ...definition, run })], 100_000);
    const slow = a.observer.of('runSlow').map(({ elapsedMs, abortCode }) => [elapsedMs, abortCode]);
    expect(slow).toEqual(reports.map(([elapsedMs, code]) => [elapsedMs, code]));
  });

  it.each<[string, (run: JobRun) => unknown]>([
    [
      'throws what cannot be looked at',
      () => {
        throw new Proxy(new Error(), { get: explode, getPrototypeOf: explode });
      },
    ],
    ['rejects with the reason of a signal that has not fired', ({ signal }) => Promise.reject(signal.reason as Error)],
  ])('fails if it %s', async (_, run) => {
    const a = await replicas.leader([job({ run })], 1_000);
    expect(runs(a.observer.eventLines)).toEqual(['1000 runStarted schedule', '1000 runFailed schedule']);
    expect(a.observer.of('observerFailed')).toEqual([]);
  });

  it('cannot change the payloads of observers', async () => {
    const run = ({ scheduledAt, startedAt }: JobRun): void => {
      scheduledAt.setTime(0);
      startedAt.setTime(0);
    };
    const a = await replicas.leader([job({ run })], 1_500);
    const at = new Date('2027-01-01T00:00:01Z');
    for (const event of ['runStarted', 'runSucceeded'] as const)
      expect(a.observer.of(event)).toMatchObject([{ scheduledAt: at, startedAt: at }]);
  });
});

it('A runner that fails steps down, and is tried again after 2 s, 4 s, 8 s and so on, until a term is sound', async () => {
  const schedule = fixedRate(1_000);
  let fails = true;
  const next = (slot: number): number => (fails ? explode() : schedule.next(slot));
  const a = await replicas.leader([job({ schedule: { ...schedule, next } })], 20_000);
  fails = false;
  await replicas.clock.advance(15_000);
  a.pool.find('tick')?.election?.stepDown('paused');
  await replicas.clock.advance(1_000);
  fails = true;
  await replicas.clock.advance(4_000);
  const tries = [0, 2_000, 6_000, 14_000, 37_000, 39_000];
  const released = tries.map((at) => `${at} leadershipReleased runner-failed`);
  expect(a.observer.eventLines.filter((line) => line.includes('runner-failed'))).toEqual(released);
  expect(a.observer.of('warning').map(({ code }) => code)).toEqual(tries.map(() => 'RUNNER_FAILED'));
});

it('A tick that comes due while the start of a triggered run is written is dropped', async () => {
  const a = await replicas.leader([job({ run: lasting(replicas.clock, 500) })], 500);
  // the read, the command, and its reply, which has the start
  a.store.delayMs = 200;
  await Promise.all([a.registry.trigger('tick'), replicas.clock.advance(1_000)]);
  expect(a.observer.of('runStarted').map(({ cause }) => cause)).toEqual(['trigger']);
  expect(a.observer.of('tickDropped')).toMatchObject([{ reason: 'overlap' }]);
});

describe('A triggered run of an interval with a long delay', () => {
  it('is claimed and started only while the lease is confirmed', async () => {
    const a = await replicas.leader([job({ schedule: once })], 100);
    const runner = a.pool.find('tick');
    const { term } = runner?.election ?? {};
    const until = (term?.storeNow() ?? 0) + 1_000;
    const trigger = (id: string) => term && runner?.reply({ id, action: 'trigger', until }, term);
    const reply = trigger('c1');
    replicas.clock.stepWall(20_000);
    runner?.replies?.observe({ holder: term?.holder, command: reply });
    expect([reply?.outcome, trigger('c2')?.outcome]).toEqual(['started', 'lease-unconfirmed']);
    expect(a.observer.of('runStarted')).toHaveLength(1);
    expect(runner?.election?.term?.fields.run).toMatchObject({ outcome: 'cancelled' });
  });
});
