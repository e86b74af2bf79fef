import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/fleet.js';
import { type Host, Hosts } from '../../../../test/support/hosts.js';
import { type ProcessClock } from '../../../../test/simulation/process-clock.js';
import { type JobRun } from '../decorators/index.js';
import { type JobDefinition } from '../discovery/index.js';
import { cron, fixedRate, interval } from '../schedule/index.js';
import { sleep } from '../time/index.js';

const LOCK_EXPIRY_MS = 10_000;
const SAFETY_MARGIN_MS = 1_000;
const HEARTBEAT_INTERVAL_MS = 3_000;
const SUSPENDED_MS = 60_000;

/** One of each kind, and none of them takes longer than a heartbeat. */
function jobs(clock: ProcessClock): JobDefinition[] {
  const run = ({ signal }: JobRun): Promise<void> => sleep(clock, 50, signal);
  return [
    job({ name: 'grid', schedule: fixedRate(1_000, { offsetMs: 0 }), run }),
    job({ name: 'gap', schedule: interval(500), run }),
    job({ name: 'report', schedule: cron('* * * * * *'), run }),
  ];
}

const startsOf = ({ observer }: Host) =>
  observer.events.flatMap(({ event, atMs, payload }) => (event === 'runStarted' ? [{ atMs, ...payload }] : []));

/** A leader whose host is suspended for a minute, while its wall clock is set back, and what it starts when it goes on. */
async function suspended({ setBackMs = 0, isCutOff = false, losesMessages = false }) {
  const hosts = new Hosts();
  const first = hosts.start('first', jobs);
  const next = hosts.start('next', jobs);
  await hosts.pass(7_900);
  first.network.loseMessages = losesMessages;
  first.clock.halt('suspended');
  await hosts.pass(SUSPENDED_MS);
  first.clock.stepWall(-setBackMs);
  if (isCutOff) first.network.cut();
  const wokenMs = hosts.trueTime.now();
  first.clock.goOn();
  await hosts.pass(30_000);
  first.network.mend();
  await Promise.all([first.supervisor.close(), hosts.pass(LOCK_EXPIRY_MS), next.supervisor.close()]);
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
  ])('starts nothing when it goes on if its wall clock %s', async (_how, setBackMs) => {
    const { stale } = await suspended({ setBackMs });
    expect(stale).toEqual([]);
  });

  it('starts nothing if its wall clock stood still as well, and it receives the grant of the new leader', async () => {
    const { first, stale } = await suspended({ setBackMs: SUSPENDED_MS });
    expect(stale).toEqual([]);
    expect(new Set(first.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['preempted']));
  });

  it('may start ticks and intervals, but no occurrence, until its next heartbeat if that message is lost', async () => {
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

  it('and that is cut off as well, until the deadline of its monotonic clock', async () => {
    const { first, stale } = await suspended({ setBackMs: SUSPENDED_MS, isCutOff: true });
    const latestMs = LOCK_EXPIRY_MS - SAFETY_MARGIN_MS;
    expect(Math.max(...stale.map(({ lateMs }) => lateMs))).toBeGreaterThan(HEARTBEAT_INTERVAL_MS);
    expect(Math.max(...stale.map(({ lateMs }) => lateMs))).toBeLessThan(latestMs);
    expect(stale.filter(({ kind }) => kind === 'cron')).toEqual([]);
    expect(new Set(first.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['expired']));
  });
});
