import { describe, expect, it } from '@jest/globals';
import { type Job } from '../jobs/job.js';
import { JobRun } from '../jobs/job-run.js';
import { LeaseLostError, RunAbortedError } from '../base/errors/run.errors.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/while-leader.js';
import { job, lasting } from '../../../../test/support/job.js';
import { useReplicas } from '../../../../test/support/test-replicas.js';

const runs = (lines: readonly string[]) => lines.filter((line) => /run/.test(line));
const once = interval(3_600_000);

describe('A follower', () => {
  const replicas = useReplicas();

  it('tells once who leads, also through an outage and a restart of the store', async () => {
    const [a, b] = [replicas.start('a', [job()]), replicas.start('b', [job()])];
    await replicas.clock.advance(5_000);
    b.store.partition();
    await replicas.clock.advance(20_000);
    b.store.heal();
    replicas.server.restart(replicas.server.snapshot());
    await replicas.clock.advance(20_000);
    const leaders = (): unknown[] => b.observer.of('leaderChanged');
    expect(leaders()).toEqual([{ job: 'tick', leader: 'a' }]);
    await Promise.all([a.registry.stepDown('tick'), replicas.clock.advance(100)]);
    await Promise.all([b.registry.stepDown('tick'), replicas.clock.advance(3_000)]);
    expect(a.observer.of('leaderChanged')).toEqual([{ job: 'tick', leader: 'b' }]);
    expect(leaders()).toEqual([
      { job: 'tick', leader: 'a' },
      { job: 'tick', leader: 'a' },
    ]);
  });

  it('tells of a pause and its end, and of neither while the record cannot be read', async () => {
    const a = replicas.start('a', [job({ schedule: once })]);
    await replicas.clock.advance(1_000);
    await a.registry.pause('tick');
    replicas.server.spoil('tick:lock');
    await replicas.clock.advance(20_000);
    replicas.server.repair('tick:lock');
    await replicas.clock.advance(20_000);
    const pausedAt = new Date('2027-01-01T00:00:01Z');
    const pauses = (): unknown[] => [a.observer.of('jobPaused'), a.observer.of('jobResumed')];
    expect(pauses()).toEqual([[{ job: 'tick', pausedAt }], []]);
    await Promise.all([a.registry.resume('tick'), replicas.clock.advance(10)]);
    expect(pauses()).toEqual([[{ job: 'tick', pausedAt }], [{ job: 'tick', pausedAt, reason: 'resumed' }]]);
  });

  it('tells of the end of each pause before the next one, also if both lie between two looks', async () => {
    const [a, b] = [replicas.start('a', [job({ schedule: once })]), replicas.start('b', [job({ schedule: once })])];
    await Promise.all([a.registry.pause('tick'), replicas.clock.advance(1_000)]);
    b.store.partition();
    await Promise.all([a.registry.resume('tick'), replicas.clock.advance(1_000)]);
    await Promise.all([a.registry.pause('tick'), replicas.clock.advance(1_000)]);
    b.store.heal();
    await replicas.clock.advance(5_000);
    const pauses = b.observer.eventLines.filter((line) => line.includes('job'));
    expect(pauses.map((line) => line.split(' ')[1])).toEqual(['jobPaused', 'jobResumed', 'jobPaused']);
  });

  it('does not say that the job runs again when an older record shows an older pause', async () => {
    const a = replicas.start('a', [job({ schedule: once })]);
    await Promise.all([a.registry.pause('tick'), replicas.clock.advance(1_000)]);
    const older = replicas.server.snapshot();
    await Promise.all([a.registry.resume('tick'), replicas.clock.advance(1_000)]);
    await Promise.all([a.registry.pause('tick'), replicas.clock.advance(1_000)]);
    replicas.server.restart(older);
    await replicas.clock.advance(20_000);
    const pauses = a.observer.eventLines.filter((line) => line.includes('job'));
    expect(pauses.map((line) => line.split(' ')[1])).toEqual(['jobPaused', 'jobResumed', 'jobPaused', 'jobPaused']);
    expect(a.observer.of('jobResumed')).toMatchObject([{ reason: 'resumed' }]);
  });

  it('tells once of a pause that is repeated after a restart of the store', async () => {
    const a = replicas.start('a', [job({ schedule: once })]);
    await Promise.all([a.registry.pause('tick'), replicas.clock.advance(1_000)]);
    replicas.server.restart(replicas.server.snapshot());
    await replicas.clock.advance(20_000);
    await Promise.all([a.registry.pause('tick'), replicas.clock.advance(5_000)]);
    expect(a.observer.eventLines.filter((line) => line.includes('job'))).toEqual(['0 jobPaused']);
  });
});

describe('A run whose leader is gone', () => {
  const replicas = useReplicas();
  const everyMinute = cron('* * * * *', { timeZone: 'UTC' });
  const MINUTE = 60_000;

  /** Which runs of `a` the next leader reports, after `a` was killed or cut off, with a run in flight. */
  async function reportedOf(
    schedule: Job['schedule'],
    {
      afterMs,
      how = 'killed',
    }: { readonly afterMs: number; readonly how?: 'killed' | 'cut off' | 'triggered, killed' },
  ): Promise<unknown[]> {
    const of = () => [job({ schedule, run: lasting(replicas.clock, 2 * MINUTE) })];
    const [a, b] = [replicas.start('a', of()), replicas.start('b', of())];
    await replicas.clock.advance(afterMs);
    if (how === 'triggered, killed') await Promise.all([a.registry.trigger('tick'), replicas.clock.advance(10)]);
    if (how === 'cut off') a.store.partition();
    else a.kill();
    await replicas.clock.advance(12_000);
    expect(b.observer.of('leadershipGained')).toHaveLength(1);
    // it is reported once: the leader after the next one says nothing
    const c = replicas.start('c', of());
    b.kill();
    await replicas.clock.advance(12_000);
    expect(c.observer.of('leadershipGained')).toHaveLength(1);
    return [b, c].flatMap(({ observer }) =>
      observer
        .of('runInterrupted')
        .filter(({ by }) => by === 'a')
        .map(({ startedAt }) => startedAt.getSeconds()),
    );
  }

  it.each<[string, Job['schedule'], Parameters<typeof reportedOf>[1]]>([
    ['a cron job', everyMinute, { afterMs: MINUTE + 1 }],
    ['a long interval', interval(MINUTE), { afterMs: 1 }],
    ['a trigger', everyMinute, { afterMs: 1, how: 'triggered, killed' }],
    ['a short interval that has lasted 10 s', interval(1_000), { afterMs: 11_000 }],
    ['@WhileLeader that has lasted 10 s', whileLeader(1_000), { afterMs: 11_000 }],
    ['a leader that lost its lease', everyMinute, { afterMs: MINUTE + 1, how: 'cut off' }],
  ])('is reported once, by the next leader: %s', async (_, schedule, how) => {
    expect(await reportedOf(schedule, how)).toEqual([0]);
  });

  it('is not reported if its start was not written: a short interval that has not lasted 10 s', async () => {
    expect(await reportedOf(interval(1_000), { afterMs: 5_000 })).toEqual([]);
  });
});

describe('A run', () => {
  const replicas = useReplicas();

  it('gets its job, kind, cause, times and fencing token', async () => {
    const given: JobRun[] = [];
    const a = replicas.start('a', [job({ run: (run) => given.push(run) })]);
    await replicas.clock.advance(1_000);
    expect(given).toHaveLength(1);
    expect(given[0]).toBeInstanceOf(JobRun);
    expect(given[0]).toMatchObject({
      job: 'tick',
      kind: 'fixed-rate',
      cause: 'schedule',
      scheduledAt: new Date('2027-01-01T00:00:01.000Z'),
      startedAt: new Date('2027-01-01T00:00:01.000Z'),
      fencingToken: a.observer.of('leadershipGained')[0]?.fencingToken,
    });
    expect(Number.isSafeInteger(given[0]?.fencingToken)).toBe(true);
  });

  it('that never ends stops its own job only', async () => {
    const stuck = job({ name: 'stuck', run: () => new Promise(() => undefined) });
    const a = replicas.start('a', [stuck, job({ name: 'other' })]);
    await replicas.clock.advance(10_000);
    expect(
      a.observer
        .of('runStarted')
        .map((run) => run.job)
        .filter((name) => name === 'stuck'),
    ).toHaveLength(1);
    expect(
      a.observer
        .of('runStarted')
        .map((run) => run.job)
        .filter((name) => name === 'other'),
    ).toHaveLength(10);
    expect(a.observer.of('tickDropped')).toHaveLength(9);
  });

  it('is aborted after the timeout of its job, and counts as cancelled when it then rejects', async () => {
    const reasons: unknown[] = [];
    const wait = lasting(replicas.clock, 60_000, { obedient: true });
    const a = replicas.start('a', [
      job({
        schedule: once,
        timeoutMs: 2_000,
        run: (run) => {
          run.signal.addEventListener('abort', () => reasons.push(run.signal.reason));
          return wait(run);
        },
      }),
    ]);
    await replicas.clock.advance(3_000);
    expect(runs(a.observer.eventLines)).toEqual(['0 runStarted schedule', '2000 runCancelled schedule TIMEOUT']);
    expect(reasons).toEqual([expect.any(RunAbortedError)]);
    expect(reasons[0]).toMatchObject({ code: 'TIMEOUT', job: 'tick' });
  });

  it('succeeds if it returns in spite of its signal', async () => {
    const a = replicas.start('a', [job({ schedule: once, timeoutMs: 1_000, run: lasting(replicas.clock, 2_000) })]);
    await replicas.clock.advance(3_000);
    expect(runs(a.observer.eventLines)).toEqual(['0 runStarted schedule', '2000 runSucceeded schedule']);
  });

  it('is aborted at the safe deadline itself when its lease is not renewed', async () => {
    const run = lasting(replicas.clock, 60_000, { obedient: true });
    const a = replicas.start('a', [job({ schedule: once, warnAfterMs: undefined, run })]);
    await replicas.clock.advance(100);
    a.store.outcome = () => 'request-lost';
    await replicas.clock.advance(20_000);
    expect(runs(a.observer.eventLines)).toEqual(['0 runStarted schedule', '9000 runCancelled schedule LEASE_LOST']);
  });

  it('learns from assertLeader() that its lease is over, also before a timer fires', async () => {
    let run: JobRun | undefined;
    const a = replicas.start('a', [
      job({
        schedule: once,
        run: (given) => {
          run = given;
          return lasting(replicas.clock, 15_000)(given);
        },
      }),
    ]);
    await replicas.clock.advance(100);
    a.store.outcome = () => 'request-lost';
    expect(() => run?.assertLeader()).not.toThrow();
    const blocked = replicas.clock.block(10_000);
    expect(run?.signal.aborted).toBe(false);
    expect(() => run?.assertLeader()).toThrow(LeaseLostError);
    await blocked;
    expect(run?.signal.aborted).toBe(true);
  });

  it('learns from assertLeader() that the host was suspended; an NTP step aborts nothing', async () => {
    let run: JobRun | undefined;
    const a = replicas.start('a', [
      job({
        schedule: once,
        run: (given) => {
          run = given;
          return lasting(replicas.clock, 15_000)(given);
        },
      }),
    ]);
    await replicas.clock.advance(100);
    a.clock.aheadMs = 60_000;
    expect(() => run?.assertLeader()).toThrow(LeaseLostError);
    await replicas.clock.advance(11_000);
    expect(() => run?.assertLeader()).not.toThrow();
    expect(run?.signal.aborted).toBe(false);
  });

  it('that continues after its signal fired is reported as slow too, with the reason of the abort', async () => {
    const a = replicas.start('a', [job({ run: lasting(replicas.clock, 20_000), timeoutMs: 500 })]);
    await replicas.clock.advance(10_000);
    expect(a.observer.of('runSlow')).toEqual([expect.objectContaining({ elapsedMs: 8_000, abortCode: 'TIMEOUT' })]);
  });

  it('that was reported as slow is reported once more if it continues after its signal fired', async () => {
    const run = lasting(replicas.clock, 120_000);
    const a = replicas.start('a', [job({ schedule: interval(1_000), run, timeoutMs: 10_000 })]);
    await replicas.clock.advance(100_000);
    expect(a.observer.of('runSlow').map(({ elapsedMs, abortCode }) => [elapsedMs, abortCode])).toEqual([
      [8_000, undefined],
      [11_000, 'TIMEOUT'],
    ]);
  });

  it('that is slow is reported once, also if every run is slow', async () => {
    const a = replicas.start('a', [job({ schedule: interval(1_000), run: lasting(replicas.clock, 60_000) })]);
    await replicas.clock.advance(60_000);
    expect(a.observer.of('runSlow')).toEqual([expect.objectContaining({ elapsedMs: 8_000, warnAfterMs: 8_000 })]);
    await replicas.clock.advance(60_000);
    expect(a.observer.of('runSlow')).toHaveLength(2);
  });

  it('that is slow is reported after the warnAfter of its job, with any lockExpiry', async () => {
    const run = lasting(replicas.clock, 20_000);
    const quick = job({ name: 'quick', schedule: once, warnAfterMs: 500, lockExpiryMs: 60_000, run });
    const never = job({ name: 'never', schedule: once, warnAfterMs: undefined, run });
    const a = replicas.start('a', [quick, never]);
    await replicas.clock.advance(30_000);
    expect(a.observer.of('runSlow').map(({ job: name, elapsedMs }) => [name, elapsedMs])).toEqual([['quick', 500]]);
  });
});

describe('A triggered run of an interval with a long delay', () => {
  const replicas = useReplicas();

  it('is claimed and started only while the lease is confirmed', async () => {
    const a = replicas.start('a', [job({ schedule: once })]);
    await replicas.clock.advance(100);
    const runner = a.pool.find('tick');
    const trigger = () => runner?.election?.term && runner.trigger(runner.election.term, 'c1');
    const order = trigger();
    replicas.clock.stepWall(20_000);
    order?.act?.();
    expect([order?.outcome, trigger()?.outcome]).toEqual(['started', 'lease-unconfirmed']);
    expect(a.observer.of('runStarted')).toHaveLength(1);
  });

  it('does not start after its term was given back while its start was recorded', async () => {
    const released: string[] = [];
    for (let turns = 0; turns < 20; turns += 1) {
      replicas.begin();
      const a = replicas.start('a', [job({ schedule: interval(60_000), run: lasting(replicas.clock, 30_000) })]);
      await replicas.clock.advance(31_500);
      const answer = a.store.holdAnswers();
      const triggered = a.registry.trigger('tick');
      await replicas.clock.advance(10);
      answer();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      a.pool.find('tick')?.election?.stepDown('stepped-down');
      await replicas.clock.advance(5);
      const { started } = await triggered;
      if (started && replicas.server.holderOf('tick') === undefined) released.push(`after ${String(turns)} turns`);
      await replicas.end();
    }
    expect(released).toEqual([]);
  });
});
