import { describe, expect, it } from '@jest/globals';
import { type JobRun } from '../jobs/job-run.js';
import { type Job } from '../jobs/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { type TestReplica } from '../testing/replicas/test-replica.js';
import { TestReplicas } from '../testing/replicas/test-replicas.js';
import { job } from '../testing/specs/job.js';
import { type Clock } from '../base/time/clock.js';
import { sleep } from '../base/time/sleep.js';

const LOCK_EXPIRY_MS = 10_000;
const SAFETY_MARGIN_MS = 1_000;
const HEARTBEAT_INTERVAL_MS = 3_000;
const SUSPENDED_MS = 60_000;

/** One of each kind, and none of them takes longer than a heartbeat. */
function jobs({ clock }: { readonly clock: Clock }): Job[] {
  const run = ({ signal }: JobRun): Promise<void> => sleep(clock, 50, signal);
  return [
    job({ name: 'grid', schedule: fixedRate(1_000, { offsetMs: 0 }), run }),
    job({ name: 'gap', schedule: interval(500), run }),
    job({ name: 'report', schedule: cron('* * * * * *'), run }),
  ];
}

const startsOf = ({ observer }: TestReplica) =>
  observer.events.flatMap(({ event, atMs, payload }) => (event === 'runStarted' ? [{ atMs, ...payload }] : []));

/** A leader whose host is suspended for a minute, while its wall clock is set back, and what it starts when it continues. */
async function suspended({ setBackMs = 0, isCutOff = false, losesMessages = false }) {
  const replicas = new TestReplicas();
  const first = replicas.start('first', jobs);
  const next = replicas.start('next', jobs);
  await replicas.clock.advance(7_900);
  first.store.losesMessages = losesMessages;
  first.clock.halt('suspended');
  await replicas.clock.advance(SUSPENDED_MS);
  first.clock.aheadMs = -setBackMs;
  if (isCutOff) first.store.partition();
  const wokenMs = replicas.clock.now();
  first.clock.resume();
  await replicas.clock.advance(30_000);
  first.store.heal();
  await Promise.all([first.pool.close(), replicas.clock.advance(LOCK_EXPIRY_MS), next.pool.close()]);
  const stale = startsOf(first)
    .map((started) => ({ ...started, lateMs: started.atMs - wokenMs }))
    .filter(({ lateMs }) => lateMs >= 0);
  return { first, next, stale };
}

describe('A leader whose host was suspended', () => {
  it.each([
    ['was right', 0],
    ['was set back by less', SUSPENDED_MS - 2 * SAFETY_MARGIN_MS],
    ['was set ahead', -SUSPENDED_MS],
  ])('starts nothing when it continues, if its wall clock %s', async (_how, setBackMs) => {
    const { stale } = await suspended({ setBackMs });
    expect(stale).toEqual([]);
  });

  it('starts nothing after it receives the grant of the new leader, with both clocks stopped', async () => {
    const { first, stale } = await suspended({ setBackMs: SUSPENDED_MS });
    expect(stale).toEqual([]);
    expect(new Set(first.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['preempted']));
  });

  it('may start slots and intervals until its next heartbeat if that message is lost', async () => {
    const { first, next, stale } = await suspended({ setBackMs: SUSPENDED_MS, losesMessages: true });
    expect(new Set(stale.map(({ kind }) => kind))).toEqual(new Set(['fixed-rate', 'interval']));
    expect(Math.max(...stale.map(({ lateMs }) => lateMs))).toBeLessThan(HEARTBEAT_INTERVAL_MS);
    expect(new Set(first.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(
      new Set(['expired', 'preempted']),
    );
    for (const { job: name, fencingToken } of stale) {
      const [taken] = startsOf(next).filter((started) => started.job === name);
      expect(fencingToken).toBeLessThan(taken?.fencingToken ?? NaN);
    }
  });

  it('and that is cut off may start runs until the deadline of its monotonic clock', async () => {
    const { first, stale } = await suspended({ setBackMs: SUSPENDED_MS, isCutOff: true });
    const latestMs = LOCK_EXPIRY_MS - SAFETY_MARGIN_MS;
    expect(Math.max(...stale.map(({ lateMs }) => lateMs))).toBeGreaterThan(HEARTBEAT_INTERVAL_MS);
    expect(Math.max(...stale.map(({ lateMs }) => lateMs))).toBeLessThan(latestMs);
    expect(stale.filter(({ kind }) => kind === 'cron')).toEqual([]);
    expect(new Set(first.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['expired']));
  });
});
