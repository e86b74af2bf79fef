import { describe, expect, it } from '@jest/globals';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { type InProcessReplica, LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { FaultRun } from './support/fault-run.js';

/** P4 for a Redis that lost its data. */
const BACK_MS = 1_000 + LOCK_EXPIRY_MS + SLACK_MS;
/** How often a leader renews a lock. */
const RENEWAL_MS = 10_000;
const JOB = 'price-tick';

/** Makes the followers send a request at once, as after the message of a release. */
async function wakeFollower({ admin, pair }: FaultRun): Promise<void> {
  const locks = pair.jobNames.map((name) => [name, 'another#1', 0]);
  const message = { version: 1, database: 0, kind: 'released', locks };
  expect(await admin.publish(`${pair.project}:events`, JSON.stringify(message))).toBeGreaterThan(0);
}

const lossesOf = ({ observer }: InProcessReplica): Set<string> =>
  new Set(observer.of('leadershipLost').map(({ reason }) => reason));

describe('a Redis that is flushed', () => {
  it.concurrent('is noticed at the next heartbeat, and jobs go on without an overlap', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    const { leader } = pair;
    await admin.flushall();
    await pair.until('the leader knows', () => leader.observer.of('leadershipLost').length === pair.jobNames.length);
    await pair.goesOn({ withinMs: BACK_MS });
    expect(lossesOf(leader)).toEqual(new Set(['preempted']));
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent('causes no overlap with a short lockExpiry either', async () => {
    await using faultRun = await FaultRun.start({}, { options: { lockExpiry: 800 } });
    const { pair, admin } = faultRun;
    for (let flushes = 0; flushes < 5; flushes++) {
      await admin.flushall();
      await wakeFollower(faultRun);
      await pair.goesOn();
    }
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent('lets no replica lead while a leader that is cut off may still run', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin, proxies } = faultRun;
    const { leader, follower } = pair;
    proxies[0].freeze();
    const flushedMs = performance.now();
    await admin.flushall();
    await wakeFollower(faultRun);
    await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length, { withinMs: BACK_MS });
    expect(performance.now() - flushedMs).toBeGreaterThan(LOCK_EXPIRY_MS);
    expect(leader.leads.size).toBe(0);
    expect(lossesOf(leader)).toEqual(new Set(['expired']));

    await pair.goesOn();
    proxies[0].thaw();
    await pair.until('the leader follows', () => leader.observer.of('storeRecovered').length > 0);
    await pair.goesOn();
    expect(follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent('reports occurrences without a known claim as state-lost, once', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin, proxies } = faultRun;
    const { follower } = pair;
    proxies[0].freeze();
    await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length);
    await pair.goesOn();
    proxies[1].freeze();
    await pair.until('there is no leader', () => follower.leads.size === 0);
    // at least one occurrence is due without a leader
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await admin.flushall();
    await faultRun.everywhere('thaw');
    await pair.goesOn();
    const missed = pair.replicas.flatMap(({ observer }) => observer.of('occurrencesMissed'));
    const windows = missed
      .filter(({ reason }) => reason === 'state-lost')
      .sort((one, other) => one.from.getTime() - other.from.getTime());
    expect(windows.length).toBeGreaterThan(0);
    for (const [index, { from }] of windows.entries())
      expect(from.getTime()).toBeGreaterThanOrEqual(windows[index - 1]?.to.getTime() ?? 0);
    expect(pair.violations()).toEqual([]);
  });
});

describe('a list of sessions that is deleted', () => {
  it.concurrent('is written again: no leader changes, and no run is aborted', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    const sessions = `{${pair.project}:sessions}`;
    const before = await admin.zrange(sessions, '0', '-1');
    expect(before).toHaveLength(2);
    for (let times = 0; times < 3; times++) {
      expect(await admin.del(sessions)).toBe(1);
      await pair.until('all are listed', async () => (await admin.zcard(sessions)) === 2);
      await pair.goesOn();
    }
    expect(await admin.zrange(sessions, '0', '-1')).toEqual(expect.arrayContaining(before));
    expect(pair.leader.leads.size).toBe(pair.jobNames.length);
    for (const { observer } of pair.replicas) {
      expect(observer.of('leadershipLost')).toEqual([]);
      expect(observer.of('runCancelled')).toEqual([]);
    }
    expect(pair.violations()).toEqual([]);
  });
});

describe('a lock that is deleted', () => {
  it.concurrent('is noticed by its leader at the next renewal, and granted under a larger token', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    const [before] = pair.leader.observer.of('leadershipGained').filter(({ job }) => job === JOB);
    await admin.del(pair.lock(JOB));
    await pair.until('its leader knows', () => pair.leader.observer.of('leadershipLost').length > 0, {
      withinMs: RENEWAL_MS + SLACK_MS,
    });
    // a follower whose request came first leads beside it for milliseconds
    const knownMs = performance.now();
    await pair.goesOn({ withinMs: 1_000 + SLACK_MS });
    const after = pair.replicas
      .flatMap(({ observer }) => observer.of('leadershipGained'))
      .filter(({ job }) => job === JOB);
    expect(after.every((lead) => lead === before || lead.fencingToken > (before?.fencingToken ?? Infinity))).toBe(true);
    expect(pair.leader.observer.of('leadershipLost')).toEqual([
      expect.objectContaining({ job: JOB, reason: 'preempted' }),
    ]);
    expect(pair.violations({ sinceMs: knownMs })).toEqual([]);
  });

  it.concurrent('that is taken at once has two leaders until the old one receives the grant', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    const { leader, follower } = pair;
    await admin.del(pair.lock(JOB));
    await wakeFollower(faultRun);
    await pair.until('the follower leads', () => follower.leads.has(JOB));
    const takenMs = performance.now();
    await pair.until('the old leader knows', () => !leader.leads.has(JOB), { withinMs: SLACK_MS });
    const knownMs = performance.now();
    expect(leader.observer.of('leadershipLost')).toEqual([expect.objectContaining({ job: JOB, reason: 'preempted' })]);
    await pair.goesOn();
    expect(pair.violations({ sinceMs: knownMs })).toEqual([]);
    const tokens = (node: string, untilMs = Infinity) =>
      pair.runs
        .filter((run) => run.node === node && run.job === JOB && run.startedAtMs < untilMs)
        .map((run) => run.fencingToken);
    expect(tokens('b')).not.toEqual([]);
    expect(Math.min(...tokens('b'))).toBeGreaterThan(Math.max(...tokens('a', takenMs)));
  });
});

describe('a foreign lock', () => {
  it.concurrent('without a time to live gets one, which is logged once, and the job continues', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    await admin.set(pair.lock(JOB), 'an-old-application');
    await wakeFollower(faultRun);
    await pair.until('a replica reports it', () =>
      pair.replicas.some(({ observer }) => observer.of('warning').some(({ code }) => code === 'LOCK_TTL_RESTORED')),
    );
    expect(await admin.pttl(pair.lock(JOB))).toBeGreaterThan(LOCK_EXPIRY_MS);
    await pair.until('its leader knows', () => !pair.leader.leads.has(JOB), { withinMs: RENEWAL_MS + SLACK_MS });
    // shorter, so that the test does not wait so long
    await admin.pexpire(pair.lock(JOB), LOCK_EXPIRY_MS);
    await pair.goesOn({ withinMs: LOCK_EXPIRY_MS + 1_000 + SLACK_MS });
    const warnings = pair.replicas.flatMap(({ warnings }) => warnings).filter((line) => line.includes('time to live'));
    expect(warnings).toEqual([
      expect.stringContaining(
        `:${JOB}] has a lock without a time to live, held by 'an-old-application'. It expires now`,
      ),
    ]);
    expect(pair.violations()).toEqual([]);
  });
});

describe('a state that is deleted', () => {
  it.concurrent('is written again, and neither tokens nor occurrences go back', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    for (const name of pair.jobNames) await admin.del(pair.state(name));
    await pair.goesOn();
    await pair.leader.pool.stop();
    await pair.goesOn({ withinMs: LOCK_EXPIRY_MS + 1_000 + SLACK_MS });
    expect(pair.follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations()).toEqual([]);
  });
});
