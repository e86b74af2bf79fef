import { describe, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { LockStoreError } from '../base/errors/lock-store.error.js';
import { type JobEvents } from '../base/events/events.js';
import { operatorLog } from './operator-log.js';
import { notifyAll } from '../base/events/observer.js';
import { clockAhead, heartbeatThreadFailed, runnerFailed, scheduleDiffers } from '../base/events/warnings.js';

const RUN = {
  job: 'report',
  kind: 'cron' as const,
  cause: 'schedule' as const,
  scheduledAt: new Date('2027-01-01T03:00:00Z'),
  startedAt: new Date('2027-01-01T03:00:00Z'),
  fencingToken: 42,
};

function setup(replica = {}) {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
  };
  const sink = { error: write('error'), warn: write('warn'), log: write('log'), debug: write('debug') };
  const observer = operatorLog(
    { projectName: 'myapp', node: 'pod-1-ab12cd34', store: 'Redis', address: 'redis://cache:6379', ...replica },
    sink,
  );
  return { lines, notify: notifyAll([observer]) };
}

describe('The log', () => {
  it('has ten lines and a count for leaderships of one turn', async () => {
    const { lines, notify } = setup();
    const gain = () => {
      for (let i = 0; i < 100; i++) notify('leadershipGained', { job: `job-${i}`, fencingToken: 1, because: 'first' });
    };
    gain();
    await setImmediate();
    const shown = () => lines.filter((line) => line.startsWith('log'));
    expect([shown().length, lines.length]).toEqual([11, 101]);
    expect(shown().at(-1)).toEqual(
      expect.stringMatching(/^log \[myapp\] also became LEADER of 90 jobs \(job-10, .*, job-19 and 80 more\)$/),
    );
    gain();
    await setImmediate();
    expect(shown()).toHaveLength(22);
  });

  it.each<{ [E in keyof JobEvents]: readonly [E, JobEvents[E]] }[keyof JobEvents]>([
    ['leadershipGained', { job: 'report', fencingToken: 42, because: 'first' }],
    ['leadershipGained', { job: 'report', fencingToken: 42, because: 'released', after: 'pod-2-00000000' }],
    ['leadershipGained', { job: 'report', fencingToken: 42, because: 'lease-ended', after: 'pod-2-00000000' }],
    ['leadershipGained', { job: 'report', fencingToken: 42, because: 'free', after: 'pod-2-00000000' }],
    ['leadershipGained', { job: 'report', fencingToken: 42, because: 'lease-ended', after: 'pod-1-ab12cd34' }],
    ['leadershipGained', { job: 'report', fencingToken: 42, because: 'released', after: 'pod-1-ab12cd34' }],
    ['leadershipGained', { job: 'report', fencingToken: 42, because: 'free' }],
    ['leadershipLost', { job: 'report', fencingToken: 42, reason: 'expired' }],
    ['leadershipLost', { job: 'report', fencingToken: 42, reason: 'preempted' }],
    [
      'leadershipReleased',
      { job: 'report', fencingToken: 42, reason: 'shutdown', confirmed: true, runInFlight: false },
    ],
    [
      'leadershipReleased',
      { job: 'report', fencingToken: 42, reason: 'shutdown', confirmed: false, runInFlight: false },
    ],
    [
      'leadershipReleased',
      { job: 'report', fencingToken: 42, reason: 'shutdown', confirmed: false, runInFlight: true },
    ],
    [
      'leadershipReleased',
      { job: 'report', fencingToken: 42, reason: 'failed-calls', confirmed: true, runInFlight: false },
    ],
    ['runFailed', { ...RUN, durationMs: 12_345, error: new Error('boom') }],
    ['runFailed', { ...RUN, durationMs: 1, error: Object.create(null) as unknown }],
    ['runCancelled', { ...RUN, durationMs: 5, code: 'TIMEOUT' }],
    ['runCancelled', { ...RUN, durationMs: 5, code: 'LEASE_LOST' }],
    ['runSlow', { ...RUN, elapsedMs: 8_001, warnAfterMs: 8_000 }],
    ['runSlow', { ...RUN, elapsedMs: 64_000, warnAfterMs: 8_000, abortCode: 'TIMEOUT' }],
    ['tickDropped', { job: 'tick', kind: 'fixed-rate', reason: 'overlap', scheduledAt: RUN.scheduledAt, count: 1 }],
    ['tickDropped', { job: 'report', kind: 'cron', reason: 'late', scheduledAt: RUN.scheduledAt, count: 3 }],
    ['runInterrupted', { job: 'report', startedAt: new Date('2027-01-01T02:00:00Z'), by: 'pod-2-00000000' }],
    [
      'occurrencesMissed',
      { job: 'report', reason: 'late', from: new Date('2027-01-01T01:00:00Z'), to: RUN.scheduledAt, count: 2 },
    ],
    ['eventLoopBlocked', { blockedMs: 4_200, jobs: ['report'] }],
    ['warning', heartbeatThreadFailed(new Error('ERR_WORKER_OUT_OF_MEMORY'))],
    ['storeUnreachable', { error: new LockStoreError('STORE_UNREACHABLE', 'connect ECONNREFUSED'), outageMs: 0 }],
    ['storeUnreachable', { error: new LockStoreError('STORE_UNREACHABLE', 'connect ECONNREFUSED'), outageMs: 120_000 }],
    ['storeRecovered', { outageMs: 11_000 }],
    ['storeRecovered', { outageMs: 11_000, hasRestarted: true }],
    ['requestDenied', { job: 'report', error: new LockStoreError('STORE_MISCONFIGURED', 'WRONGTYPE'), deniedMs: 0 }],
    ['requestDenied', { job: 'lock/import', error: new LockStoreError('STORE_REFUSED_WRITE', 'OOM'), deniedMs: 0 }],
    ['requestDenied', { error: new LockStoreError('STORE_MISCONFIGURED', 'NOPERM'), deniedMs: 0 }],
    ['requestDenied', { error: new LockStoreError('STORE_MISCONFIGURED', 'NOPERM'), deniedMs: 60_000 }],
    [
      'requestDenied',
      { job: 'report', error: new LockStoreError('STORE_MISCONFIGURED', 'WRONGTYPE'), deniedMs: 60_000 },
    ],
    [
      'warning',
      clockAhead(
        'report',
        { node: 'pod-1-ab12cd34', store: 'Redis' },
        { scheduledAt: RUN.scheduledAt, aheadMs: 90_000 },
      ),
    ],
    ['warning', { code: 'EVICTION_POSSIBLE', message: 'may lose locks when Redis is full' }],
    ['warning', runnerFailed('report', new Error('bug'))],
    ['warning', scheduleDiffers('report', 'cron 0 4 * * * UTC', 'cron 0 3 * * * UTC', 'pod-2-00000000')],
    ['jobResumed', { job: 'report', pausedAt: new Date('2027-01-01T00:01:00.020Z'), reason: 'data-lost' }],
    ['shutdownDelayed', { ...RUN, elapsedMs: 11_200, abortInMs: 5_000 }],
    ['shutdownDelayed', { ...RUN, elapsedMs: 11_200, abortInMs: 0 }],
    ['observerFailed', { event: 'runFailed', error: new Error('oops') }],
  ])('has one clear line for %s', (event, payload) => {
    const { lines, notify } = setup();
    notify(event, payload);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchSnapshot();
  });

  it('does not advise a heartbeat thread where there is one', () => {
    const { lines, notify } = setup({ hasHeartbeatThread: true });
    notify('eventLoopBlocked', { blockedMs: 4_200, jobs: [] });
    expect(lines).toEqual([expect.not.stringContaining('heartbeatThread')]);
  });

  it('has no line for a run that begins and succeeds', () => {
    const { lines, notify } = setup();
    notify('runStarted', RUN);
    notify('runSucceeded', { ...RUN, durationMs: 12.3 });
    expect(lines).toEqual([]);
  });
});
