import { describe, expect, it } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { StoreError } from '../base/errors/store.error.js';
import { type JobEvents } from '../base/events/events.js';
import { notifyAll } from '../base/events/observer.js';
import {
  clockAhead,
  heartbeatThreadFailed,
  returnsAtOnce,
  runnerFailed,
  scheduleDiffers,
} from '../base/events/warnings.js';
import { operatorLog } from './operator-log.js';

const at = (time: string) => new Date(`2027-01-01T${time}Z`);

const RUN = {
  job: 'report',
  kind: 'cron' as const,
  cause: 'schedule' as const,
  scheduledAt: at('03:00'),
  startedAt: at('03:00'),
  fencingToken: 42,
};

const TERM = { job: 'report', fencingToken: 42 };
const RELEASED = { ...TERM, reason: 'shutdown', confirmed: true, runInFlight: false } as const;
const UNREACHABLE = new StoreError('STORE_UNREACHABLE', 'connect ECONNREFUSED');
const WRONG_TYPE = new StoreError('STORE_MISCONFIGURED', 'WRONGTYPE');
const NO_PERMISSION = new StoreError('STORE_MISCONFIGURED', 'NOPERM');

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
  it('advises no heartbeatThread where there is one', () => {
    const { lines, notify } = setup({ hasHeartbeatThread: true });
    notify('eventLoopBlocked', { blockedMs: 25_000, cpuMs: 25_000, jobs: [] });
    expect(lines[0]).toMatch(/ or keep leases through such a block with a longer lockExpiry$/);
  });

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
    for (let i = 0; i < 11; i++) notify('leadershipReleased', { ...RELEASED, job: `job-${i}` });
    await setImmediate();
    expect(shown().at(-1)).toBe('log [myapp] also released leadership of 1 job (job-10)');
  });

  it('has a line for the jobs of each leader that it follows, and later changes are details', async () => {
    const { lines, notify } = setup();
    const changed = async (jobs: readonly string[], leader: string): Promise<void> => {
      for (const job of jobs) notify('leaderChanged', { job, leader });
      await setImmediate();
    };
    await Promise.all([changed(['a', 'b'], 'pod-2'), changed(['c'], 'pod-3')]);
    await changed(['c'], 'pod-2');
    expect(lines).toEqual([
      'log [myapp] follows pod-2 for 2 jobs (a, b); takes over when its lease ends',
      'log [myapp] follows pod-3 for 1 job (c); takes over when its lease ends',
      'debug [myapp] follows pod-2 for 1 job (c); takes over when its lease ends',
    ]);
  });

  it('says of a leader in its own process, as after a hot reload, that an earlier application was not closed', async () => {
    const { lines, notify } = setup({ isInThisProcess: (replica: string) => replica === 'pod-1-before' });
    notify('leaderChanged', { job: 'a', leader: 'pod-1-before' });
    await setImmediate();
    const end = 'takes over when its lease ends. It is in this process: close an earlier application';
    expect(lines).toEqual([`log [myapp] follows pod-1-before for 1 job (a); ${end}`]);
  });

  it('has a line for the jobs that are paused on all replicas, and one for those that are resumed', async () => {
    const { lines, notify } = setup();
    const pausedAt = RUN.startedAt;
    const scope = 'job';
    const more = { pausedUntil: at('05:00'), pauseReason: 'a migration' };
    notify('jobPaused', { job: 'a', scope, pausedAt });
    notify('jobPaused', { job: 'b', scope, pausedAt, ...more });
    notify('jobResumed', { job: 'b', scope, pausedAt, reason: 'resumed' });
    await setImmediate();
    const since = 'since 2027-01-01T03:00:00.000Z';
    expect(lines).toEqual([
      `log [myapp] paused on all replicas: 2 jobs (a ${since}, b ${since} until 2027-01-01T05:00:00.000Z: a migration); start one with resume()`,
      'log [myapp] no longer paused on all replicas: 1 job (b)',
    ]);
  });

  it('has one line for a pause of all jobs, one for what changes of it, and one for its end', () => {
    const { lines, notify } = setup();
    const paused = { scope: 'all', pausedAt: RUN.startedAt } as const;
    for (const pauseReason of ['a migration', 'a long migration'])
      for (const job of ['a', 'b']) notify('jobPaused', { ...paused, job, pauseReason });
    for (const job of ['a', 'b']) notify('jobResumed', { ...paused, job, reason: 'expired' });
    for (const job of ['a', 'b']) notify('jobPaused', { ...paused, job });
    for (const job of ['a', 'b']) notify('jobResumed', { ...paused, job, reason: 'data-lost' });
    const since = 'since 2027-01-01T03:00:00.000Z';
    const next = `, ${since}; no replica leads a job. End it by resumeAll()`;
    const lost = `the pause ${since} was lost with the data of Redis`;
    expect(lines).toEqual([
      `log [myapp] paused (all): a migration${next}`,
      `log [myapp] paused (all): a long migration${next}`,
      'log [myapp] no longer paused (all): expired',
      `log [myapp] paused (all)${next}`,
      `warn [myapp] ${lost}; all jobs run again. Call pauseAll() again if they must not`,
    ]);
  });

  it('has one line for the end of a pause of all jobs, and one for the next one, also when both come together', () => {
    const { lines, notify } = setup();
    const [first, second] = [RUN.startedAt, at('04:00')];
    for (const job of ['a', 'b']) notify('jobPaused', { job, scope: 'all', pausedAt: first });
    for (const job of ['a', 'b']) {
      notify('jobResumed', { job, scope: 'all', pausedAt: first, reason: 'resumed' });
      notify('jobPaused', { job, scope: 'all', pausedAt: second });
    }
    expect(lines.map((line) => line.slice(0, 60))).toEqual([
      'log [myapp] paused (all), since 2027-01-01T03:00:00.000Z; no',
      'log [myapp] no longer paused (all): resumed',
      'log [myapp] paused (all), since 2027-01-01T04:00:00.000Z; no',
    ]);
  });

  it.each<{ [E in keyof JobEvents]: readonly [E, JobEvents[E]] }[keyof JobEvents]>([
    ['leadershipGained', { ...TERM, because: 'first' }],
    ['leadershipGained', { ...TERM, because: 'released', after: 'pod-2-00000000' }],
    ['leadershipGained', { ...TERM, because: 'lease-ended', after: 'pod-2-00000000' }],
    ['leadershipGained', { ...TERM, because: 'free', after: 'pod-2-00000000' }],
    ['leadershipGained', { ...TERM, because: 'lease-ended', after: 'pod-1-ab12cd34' }],
    ['leadershipGained', { ...TERM, because: 'released', after: 'pod-1-ab12cd34' }],
    ['leadershipGained', { ...TERM, because: 'free' }],
    ['leadershipLost', { ...TERM, reason: 'expired' }],
    ['leadershipLost', { ...TERM, reason: 'preempted' }],
    ['leadershipReleased', RELEASED],
    ['leadershipReleased', { ...RELEASED, confirmed: false }],
    ['leadershipReleased', { ...RELEASED, confirmed: false, runInFlight: true }],
    ['leadershipReleased', { ...RELEASED, reason: 'failed-calls' }],
    ['runFailed', { ...RUN, durationMs: 12_345, error: new Error('boom') }],
    ['runFailed', { ...RUN, durationMs: 1, error: Object.create(null) as unknown }],
    ['runSucceeded', { ...RUN, durationMs: 45_000, abortCode: 'TIMEOUT' }],
    ['runCancelled', { ...RUN, durationMs: 5, code: 'TIMEOUT' }],
    ['runCancelled', { ...RUN, durationMs: 5, code: 'LEASE_LOST' }],
    ['runSlow', { ...RUN, elapsedMs: 8_001, warnAfterMs: 8_000 }],
    ['runSlow', { ...RUN, elapsedMs: 64_000, warnAfterMs: 8_000, abortCode: 'TIMEOUT' }],
    ['tickDropped', { job: 'tick', kind: 'fixed-rate', reason: 'overlap', scheduledAt: RUN.scheduledAt, count: 1 }],
    ['tickDropped', { job: 'report', kind: 'cron', reason: 'late', scheduledAt: RUN.scheduledAt, count: 3 }],
    ['occurrenceSkipped', { job: 'report', scheduledAt: RUN.scheduledAt }],
    ['runInterrupted', { job: 'report', startedAt: at('01:59'), by: 'pod-2-00000000', occurrence: at('02:00') }],
    ['occurrencesMissed', { job: 'report', reason: 'late', from: at('01:00'), to: RUN.scheduledAt, count: 2 }],
    ['eventLoopBlocked', { blockedMs: 4_200, cpuMs: 4_100, jobs: ['report'] }],
    ['eventLoopBlocked', { blockedMs: 40_000, cpuMs: 20, jobs: ['report'] }],
    ['eventLoopBlocked', { blockedMs: 4_200, cpuMs: 4_100, jobs: [] }],
    ['warning', heartbeatThreadFailed(new Error('ERR_WORKER_OUT_OF_MEMORY'))],
    ['storeUnreachable', { error: UNREACHABLE, outageMs: 0 }],
    ['storeUnreachable', { error: UNREACHABLE, outageMs: 120_000 }],
    ['storeRecovered', { outageMs: 11_000 }],
    ['storeRecovered', { outageMs: 11_000, hasRestarted: true }],
    ['requestDenied', { job: 'report', error: WRONG_TYPE, deniedMs: 0 }],
    ['requestDenied', { job: 'lock/import', error: new StoreError('STORE_REFUSED_WRITE', 'OOM'), deniedMs: 0 }],
    ['requestDenied', { error: NO_PERMISSION, deniedMs: 0 }],
    ['requestDenied', { error: NO_PERMISSION, deniedMs: 60_000 }],
    ['requestDenied', { job: 'report', error: WRONG_TYPE, deniedMs: 60_000 }],
    ['warning', clockAhead('report', RUN.scheduledAt, 90_000, ['pod-1', 'Redis'])],
    ['warning', { code: 'EVICTION_POSSIBLE', message: 'may lose locks when Redis is full' }],
    ['warning', returnsAtOnce('order-feed', 1_000)],
    ['warning', runnerFailed('report', new Error('bug'))],
    ['warning', scheduleDiffers('report', 'cron 0 4 * * * UTC', 'cron 0 3 * * * UTC', 'pod-2-00000000')],
    ['jobResumed', { job: 'report', scope: 'job', pausedAt: at('00:01:00.020'), reason: 'data-lost' }],
    ['shutdownDelayed', { ...RUN, elapsedMs: 11_200, abortInMs: 5_000 }],
    ['shutdownDelayed', { ...RUN, elapsedMs: 11_200, abortInMs: 0 }],
    ['observerFailed', { event: 'runFailed', error: new Error('oops') }],
  ])('has one clear line for %s', (event, payload) => {
    const { lines, notify } = setup();
    notify(event, payload);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchSnapshot();
  });

  it('has a line in the first minute for each way in which runs end after their time-out', () => {
    const { lines, notify } = setup();
    for (let second = 0; second < 50; second++) {
      const run = { ...RUN, startedAt: new Date(RUN.startedAt.getTime() + 1_000 * second), durationMs: 500 };
      if (second % 2 === 0) notify('runCancelled', { ...run, code: 'TIMEOUT' });
      else notify('runSucceeded', { ...run, abortCode: 'TIMEOUT' });
    }
    expect(lines.map((line) => line.slice(0, 37))).toEqual([
      'warn [myapp:report] was cancelled aft',
      'warn [myapp:report] succeeded after 5',
    ]);
  });

  it('has a warning for the first failure of observers at an event, and details for the next', () => {
    const { lines, notify } = setup();
    for (const event of ['runFailed', 'runFailed', 'runSlow'] as const)
      notify('observerFailed', { event, error: new Error('oops') });
    expect(lines.map((line) => line.split(' ')[0])).toEqual(['warn', 'debug', 'warn']);
  });

  it('has no line for a run that begins and succeeds', () => {
    const { lines, notify } = setup();
    notify('runStarted', RUN);
    notify('runSucceeded', { ...RUN, durationMs: 12.3 });
    notify('runSucceeded', { ...RUN, durationMs: 12.3, abortCode: 'SHUTDOWN' });
    expect(lines).toEqual([]);
  });
});
