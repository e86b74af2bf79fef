import { describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../errors/index.js';
import { type JobEvents } from './events.js';
import { LoggingObserver } from './logging-observer.js';
import { notifyAll } from './observer.js';
import { clockAhead, heartbeatThreadFailed, lockTtlRestored, pauseLost, runnerFailed } from './warnings.js';

const RUN = {
  job: 'report',
  kind: 'cron' as const,
  cause: 'schedule' as const,
  scheduledAt: new Date('2027-01-01T03:00:00Z'),
  startedAt: new Date('2027-01-01T03:00:00Z'),
  fencingToken: 42,
};

function setup(now?: () => number) {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => {
    lines.push(`${level} ${message}`);
  };
  const sink = { error: write('error'), warn: write('warn'), log: write('log'), debug: write('debug') };
  const observer = new LoggingObserver(
    { projectName: 'myapp', node: 'pod-1-ab12cd34', store: 'Redis', address: 'redis://cache:6379' },
    sink,
    now,
  );
  return { lines, notify: notifyAll([observer]) };
}

describe('The log', () => {
  it.each<{ [E in keyof JobEvents]: readonly [E, JobEvents[E], string] }[keyof JobEvents]>([
    [
      'leadershipGained',
      { job: 'report', fencingToken: 42, because: 'first' },
      'log [myapp:report] became LEADER (fencing token 42, node pod-1-ab12cd34): first leader',
    ],
    [
      'leadershipGained',
      { job: 'report', fencingToken: 42, because: 'released', after: 'pod-2-00000000' },
      'log [myapp:report] became LEADER (fencing token 42, node pod-1-ab12cd34): pod-2-00000000 released the lock',
    ],
    [
      'leadershipGained',
      { job: 'report', fencingToken: 42, because: 'session-ended', after: 'pod-2-00000000' },
      'log [myapp:report] became LEADER (fencing token 42, node pod-1-ab12cd34): the session of pod-2-00000000 ended',
    ],
    [
      'leadershipGained',
      { job: 'report', fencingToken: 42, because: 'lock-free', after: 'pod-2-00000000' },
      'log [myapp:report] became LEADER (fencing token 42, node pod-1-ab12cd34): the lock was free, the last known leader was pod-2-00000000',
    ],
    [
      'leadershipGained',
      { job: 'report', fencingToken: 42, because: 'session-ended', after: 'pod-1-ab12cd34' },
      'log [myapp:report] became LEADER (fencing token 42, node pod-1-ab12cd34): the lease of this replica had expired',
    ],
    [
      'leadershipGained',
      { job: 'report', fencingToken: 42, because: 'released', after: 'pod-1-ab12cd34' },
      'log [myapp:report] became LEADER (fencing token 42, node pod-1-ab12cd34): this replica released the lock',
    ],
    [
      'leadershipGained',
      { job: 'report', fencingToken: 42, because: 'lock-free' },
      'log [myapp:report] became LEADER (fencing token 42, node pod-1-ab12cd34): the lock was free',
    ],
    [
      'leadershipLost',
      { job: 'report', fencingToken: 42, reason: 'expired' },
      'warn [myapp:report] lost leadership (fencing token 42): Redis did not confirm the lease in time. ' +
        'A run in progress is aborted. A replica that reaches Redis takes over',
    ],
    [
      'leadershipLost',
      { job: 'report', fencingToken: 42, reason: 'preempted' },
      'warn [myapp:report] lost leadership (fencing token 42): Redis lost its data, its lock was deleted, or another holder has it. ' +
        'A run in progress is aborted. A replica that reaches Redis takes over',
    ],
    [
      'leadershipReleased',
      { job: 'report', fencingToken: 42, reason: 'shutdown', confirmed: true, runInFlight: false },
      'log [myapp:report] released leadership (shutdown, node pod-1-ab12cd34)',
    ],
    [
      'leadershipReleased',
      { job: 'report', fencingToken: 42, reason: 'shutdown', confirmed: false, runInFlight: false },
      'warn [myapp:report] could not release leadership (shutdown, node pod-1-ab12cd34): Redis did not confirm it. ' +
        'Another replica takes over when the session of this replica ends',
    ],
    [
      'leadershipReleased',
      { job: 'report', fencingToken: 42, reason: 'shutdown', confirmed: false, runInFlight: true },
      'warn [myapp:report] could not release leadership (shutdown, node pod-1-ab12cd34): a run ignored its abort and is still running. ' +
        'Another replica takes over when the session of this replica ends. Pass run.signal on to what the run waits for',
    ],
    [
      'runFailed',
      { ...RUN, durationMs: 12_345, error: new Error('boom') },
      'error [myapp:report] failed after 12.3 s: boom',
    ],
    [
      'runFailed',
      { ...RUN, durationMs: 1, error: Object.create(null) as unknown },
      'error [myapp:report] failed after 1 ms: [Object: null prototype] {}',
    ],
    [
      'runCancelled',
      { ...RUN, durationMs: 5, code: 'TIMEOUT' },
      'warn [myapp:report] was cancelled after 5 ms (TIMEOUT): the run took longer than the timeout of the job',
    ],
    [
      'runCancelled',
      { ...RUN, durationMs: 5, code: 'LEASE_LOST' },
      'debug [myapp:report] was cancelled after 5 ms (LEASE_LOST): this replica may no longer lead the job',
    ],
    [
      'runSlow',
      { ...RUN, elapsedMs: 8_001, warnAfterMs: 8_000 },
      'warn [myapp:report] has been running for 8.0 s, longer than its warnAfter (8.0 s), and its lease is renewed. ' +
        'No other run of the job starts here until it ends. Set a timeout, and pass run.signal on to what the run waits for. ' +
        'If such runs are normal, raise warnAfter',
    ],
    [
      'runSlow',
      { ...RUN, elapsedMs: 64_000, warnAfterMs: 8_000, abortCode: 'TIMEOUT' },
      'warn [myapp:report] has been running for 64.0 s, although its signal was aborted (TIMEOUT). ' +
        'No other run of the job starts here until it ends. Pass run.signal on to what the run waits for',
    ],
    [
      'tickDropped',
      { job: 'tick', kind: 'fixed-rate', reason: 'overlap', scheduledAt: RUN.scheduledAt, count: 1 },
      'debug [myapp:tick] dropped the tick of 2027-01-01T03:00:00.000Z (overlap): a run was in flight',
    ],
    [
      'tickDropped',
      { job: 'report', kind: 'cron', reason: 'late', scheduledAt: RUN.scheduledAt, count: 3 },
      'warn [myapp:report] dropped 3 ticks up to that of 2027-01-01T03:00:00.000Z (late): the event loop was blocked, and a newer tick was due',
    ],
    [
      'occurrencesMissed',
      {
        job: 'report',
        reason: 'start-not-confirmed',
        from: new Date('2027-01-01T02:00:00Z'),
        to: RUN.scheduledAt,
        count: 1,
        claimedBy: 'pod-2-00000000',
      },
      'warn [myapp:report] missed 1 occurrence after 2027-01-01T02:00:00.000Z up to 2027-01-01T03:00:00.000Z ' +
        '(start-not-confirmed): claimed, but the start was never confirmed. The job may have run (claimed by pod-2-00000000)',
    ],
    [
      'occurrencesMissed',
      { job: 'report', reason: 'late', from: new Date('2027-01-01T01:00:00Z'), to: RUN.scheduledAt, count: 2 },
      'warn [myapp:report] missed 2 occurrences after 2027-01-01T01:00:00.000Z up to 2027-01-01T03:00:00.000Z (late): ' +
        'not started within the misfire grace, or a newer one was due',
    ],
    [
      'eventLoopBlocked',
      { blockedMs: 4_200, jobs: ['report'] },
      'warn the event loop of pod-1-ab12cd34 was blocked for 4.2 s, while these ran: report. Move the ' +
        'computation into a worker thread, or keep leases through such a block with heartbeatThread or a longer lockExpiry',
    ],
    [
      'warning',
      heartbeatThreadFailed(new Error('ERR_WORKER_OUT_OF_MEMORY')),
      'error [myapp] has no working heartbeat thread (ERR_WORKER_OUT_OF_MEMORY): a job that blocks the event loop for longer than its ' +
        'lockExpiry loses its lease. Fix the cause and restart the process',
    ],
    [
      'storeUnreachable',
      { error: new LockStoreError('STORE_UNREACHABLE', 'connect ECONNREFUSED'), outageMs: 0 },
      'error [myapp] Redis is unavailable, and every job and lock needs it (connect ECONNREFUSED); retrying redis://cache:6379',
    ],
    [
      'storeUnreachable',
      { error: new LockStoreError('STORE_UNREACHABLE', 'connect ECONNREFUSED'), outageMs: 120_000 },
      'error [myapp] no job or lock works: Redis has been unavailable for 120.0 s (connect ECONNREFUSED); retrying redis://cache:6379',
    ],
    [
      'storeUnreachable',
      { job: 'report', error: new LockStoreError('STORE_UNREACHABLE', 'CLUSTERDOWN'), outageMs: 0 },
      'error [myapp:report] Redis is unavailable, for this job only (CLUSTERDOWN); retrying',
    ],
    [
      'storeUnreachable',
      { job: 'lock/import', error: new LockStoreError('STORE_UNREACHABLE', 'CLUSTERDOWN'), outageMs: 60_000 },
      'error [myapp:lock/import] Redis has been unavailable for 60.0 s, for this lock only (CLUSTERDOWN); retrying',
    ],
    [
      'storeUnreachable',
      { error: new LockStoreError('STORE_MISCONFIGURED', 'WRONGPASS'), outageMs: 0 },
      'error [myapp] Redis refuses a request that every job needs (WRONGPASS); retrying redis://cache:6379',
    ],
    [
      'storeUnreachable',
      { error: new LockStoreError('STORE_MISCONFIGURED', 'WRONGPASS'), outageMs: 60_000 },
      'error [myapp] Redis still refuses a request that every job needs, after 60.0 s (WRONGPASS); retrying redis://cache:6379',
    ],
    ['storeRecovered', { outageMs: 11_000 }, 'log [myapp] Redis is available again after 11.0 s'],
    [
      'storeRecovered',
      { outageMs: 11_000, hasRestarted: true },
      'log [myapp] Redis is available again after 11.0 s. ' +
        'It restarted, or is another server: the leader of a job continues, or another replica takes over after its lockExpiry',
    ],
    [
      'requestDenied',
      { job: 'report', error: new LockStoreError('STORE_MISCONFIGURED', 'WRONGTYPE'), deniedMs: 0 },
      'error [myapp:report] cannot be led (WRONGTYPE); retrying',
    ],
    [
      'requestDenied',
      { job: 'lock/import', error: new LockStoreError('STORE_REFUSED_WRITE', 'OOM'), deniedMs: 0 },
      'error [myapp:lock/import] cannot be locked (OOM); retrying',
    ],
    [
      'requestDenied',
      { error: new LockStoreError('STORE_MISCONFIGURED', 'NOPERM'), deniedMs: 0 },
      'error [myapp] Redis refuses a request that every job needs (NOPERM); retrying redis://cache:6379',
    ],
    [
      'requestDenied',
      { error: new LockStoreError('STORE_MISCONFIGURED', 'NOPERM'), deniedMs: 60_000 },
      'error [myapp] Redis still refuses a request that every job needs, after 60.0 s (NOPERM); retrying redis://cache:6379',
    ],
    [
      'requestDenied',
      { job: 'report', error: new LockStoreError('STORE_MISCONFIGURED', 'WRONGTYPE'), deniedMs: 60_000 },
      'error [myapp:report] still cannot be led, after 60.0 s (WRONGTYPE); retrying',
    ],
    [
      'warning',
      clockAhead(
        'report',
        { node: 'pod-1-ab12cd34', store: 'Redis' },
        { scheduledAt: RUN.scheduledAt, aheadMs: 90_000 },
      ),
      'warn [myapp:report] is due at 2027-01-01T03:00:00.000Z, 90.0 s ahead of the clock of Redis. ' +
        'The run waits for that clock. Synchronise the clocks of pod-1-ab12cd34 and of Redis',
    ],
    [
      'warning',
      { code: 'EVICTION_POSSIBLE', message: 'may lose locks when Redis is full' },
      'warn [myapp] may lose locks when Redis is full',
    ],
    [
      'warning',
      { code: 'EVICTION_UNKNOWN', message: 'cannot read the maxmemory-policy of Redis' },
      'debug [myapp] cannot read the maxmemory-policy of Redis',
    ],
    [
      'warning',
      lockTtlRestored('report', 'old-app'),
      "warn [myapp:report] has a lock without a time to live, held by 'old-app'. It expires now, and then another replica takes " +
        'over. Find the program that wrote this key',
    ],
    [
      'warning',
      runnerFailed('report', new Error('bug')),
      'error [myapp:report] gives up leadership after an error of the library (bug). Another replica takes over. ' +
        'Please report it with this stack',
    ],
    [
      'warning',
      pauseLost('report', Date.parse('2027-01-01T00:01:00.020Z'), 'Redis'),
      'warn [myapp:report] the pause since 2027-01-01T00:01:00.020Z was lost with the data of Redis; the job runs again. ' +
        "Call pause('report') again if it must not",
    ],
    [
      'observerFailed',
      { event: 'runFailed', error: new Error('oops') },
      "warn an observer failed at 'runFailed' (oops). Jobs go on, and its next failures are debug lines",
    ],
  ])('has one clear line for %s', (event, payload, line) => {
    const { lines, notify } = setup();
    notify(event, payload);
    expect(lines).toEqual([line]);
  });

  it.each([
    ['expired', 999, 'Redis did not confirm the lease in time, after the event loop was blocked for 9.5 s.'],
    ['expired', 1_000, 'Redis did not confirm the lease in time.'],
    ['preempted', 0, 'its lock was deleted, or another holder has it.'],
  ] as const)('says why a lease was lost (%s) %i ms after a block of the event loop', (reason, afterMs, why) => {
    let now = 50_000;
    const { lines, notify } = setup(() => now);
    notify('eventLoopBlocked', { blockedMs: 9_500, jobs: [] });
    now += afterMs;
    notify('leadershipLost', { job: 'report', fencingToken: 42, reason });
    expect(lines.at(-1)).toContain(why);
  });

  it('has no line for a run that begins and succeeds', () => {
    const { lines, notify } = setup();
    notify('runStarted', RUN);
    notify('runSucceeded', { ...RUN, durationMs: 12.3 });
    expect(lines).toEqual([]);
  });
});
