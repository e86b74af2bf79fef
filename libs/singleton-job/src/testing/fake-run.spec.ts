import { describe, expect, it } from '@jest/globals';
import { LeaseLostError, type RunAbortCode, RunAbortedError } from '../base/errors/run.errors.js';
import { JobRun } from '../jobs/job-run.js';
import { FakeRun } from './fake-run.js';
import { ManualClock } from './manual-clock.js';

describe('a fake run', () => {
  it('is a run with a valid lease', () => {
    const run = new FakeRun();
    expect(run).toBeInstanceOf(JobRun);
    expect(run.signal.aborted).toBe(false);
    expect(() => {
      run.assertLeader();
    }).not.toThrow();
  });

  it('has the values that it is given', () => {
    const scheduledAt = new Date('2027-03-01T03:00:00Z');
    const values = { job: 'daily-report', kind: 'cron', cause: 'misfire', scheduledAt, fencingToken: 7 } as const;
    const run = new FakeRun({ ...values, previousScheduledAt: new Date('2027-02-01T03:00:00Z') });
    expect(run).toMatchObject({ ...values, previousScheduledAt: new Date('2027-02-01T03:00:00Z') });
    expect(run.startedAt).toEqual(scheduledAt);
    expect(new FakeRun().previousScheduledAt).toBeNull();
  });

  it.each<RunAbortCode>(['LEASE_LOST', 'SHUTDOWN', 'TIMEOUT', 'SUPERSEDED'])('can be aborted with %s', (code) => {
    const run = new FakeRun({ job: 'price-tick' });
    run.abort(code);
    expect(run.signal.reason).toBeInstanceOf(RunAbortedError);
    expect(run.signal.reason).toMatchObject({ job: 'price-tick', code });
  });

  it('throws in assertLeader() when its lease is lost, before the signal fires or after', () => {
    const [aborted, unnoticed, stopped] = [new FakeRun(), new FakeRun(), new FakeRun()];
    const asserting = (run: FakeRun) => (): void => {
      run.assertLeader();
    };
    aborted.abort('LEASE_LOST');
    unnoticed.loseLease();
    stopped.abort('SHUTDOWN');
    expect(asserting(aborted)).toThrow(LeaseLostError);
    expect(asserting(unnoticed)).toThrow(LeaseLostError);
    expect(asserting(stopped)).not.toThrow();
    expect(unnoticed.signal.aborted).toBe(false);
    expect([aborted, unnoticed, stopped].map(({ wasRefused }) => wasRefused)).toEqual([true, true, false]);
  });

  it('works destructured', () => {
    const run = new FakeRun();
    const { assertLeader } = run;
    expect(assertLeader).not.toThrow();
    run.loseLease();
    expect(assertLeader).toThrow(LeaseLostError);
    expect(run.wasRefused).toBe(true);
  });

  it('waits by the clock of the test until its signal fires', async () => {
    const clock = new ManualClock();
    const run = new FakeRun({ clock });
    const { sleep } = run;
    const slept = [sleep('2s'), sleep(5_000)];
    await clock.advance(2_000);
    await expect(slept[0]).resolves.toBeUndefined();
    run.abort('SHUTDOWN');
    await expect(slept[1]).rejects.toMatchObject({ code: 'SHUTDOWN' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is aborted by the signal of the test too', () => {
    const controller = new AbortController();
    const run = new FakeRun({ signal: controller.signal });
    const reason = new Error('the test is over');
    controller.abort(reason);
    expect(run.signal.reason).toBe(reason);
  });
});
