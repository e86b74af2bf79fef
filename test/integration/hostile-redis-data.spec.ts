import { describe, expect, it } from '@jest/globals';
import { SLACK_MS } from '../support/busy-machine.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS } from '../support/hostile-replica.js';
import { HostileWorld } from '../support/hostile-world.js';

/** P4 for a Redis that lost its data. */
const BACK_MS = 1_000 + LOCK_EXPIRY_MS + SLACK_MS;
/** How long a leader may not know that its lock is gone: until its next renewal is answered. */
const UNAWARE_MS = HEARTBEAT_INTERVAL_MS + LOCK_EXPIRY_MS / 5;
const JOB = 'price-tick';

/** Has the follower ask at once, as it does after every release that it hears of. */
async function wakeFollower({ admin, pair }: HostileWorld): Promise<void> {
  const message = { by: 'somebody', names: pair.jobNames, receivers: 2 };
  expect(await admin.publish(`${pair.project}:released`, JSON.stringify(message))).toBeGreaterThan(0);
}

describe('a Redis that is flushed', () => {
  it.concurrent(
    'tells its leader at the next renewal, and jobs go on under larger tokens without an overlap',
    async () => {
      await using world = await HostileWorld.start();
      const { pair, admin } = world;
      const { leader } = pair;
      await admin.flushall();
      await pair.until('the leader knows', () => leader.observer.of('leadershipLost').length === pair.jobNames.length);
      await pair.goesOn({ withinMs: BACK_MS });
      expect(new Set(leader.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['preempted']));
      expect(pair.violations()).toEqual([]);
    },
  );

  it.concurrent(
    'while its leader is cut off lets the next one lead at once, and run when that leader cannot any more',
    async () => {
      await using world = await HostileWorld.start();
      const { pair, admin, proxies } = world;
      const { leader, follower } = pair;
      proxies[0].freeze();
      await admin.flushall();
      await wakeFollower(world);
      await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length);
      expect(leader.leads.size).toBe(pair.jobNames.length);
      for (const { waitMs } of follower.observer.of('leadershipGained')) expect(waitMs).toBeGreaterThan(0);

      await pair.goesOn({ withinMs: BACK_MS });
      expect(new Set(leader.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['expired']));
      proxies[0].thaw();
      await pair.until('the leader follows', () => leader.observer.of('storeRecovered').length > 0);
      await pair.goesOn();
      expect(follower.leads.size).toBe(pair.jobNames.length);
      expect(pair.violations()).toEqual([]);
    },
  );

  it.concurrent('reports the occurrences that nobody can know of as lost with the state, once', async () => {
    await using world = await HostileWorld.start();
    const { pair, admin, proxies } = world;
    const { follower } = pair;
    proxies[0].freeze();
    await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length);
    await pair.goesOn();
    proxies[1].freeze();
    await pair.until('nobody leads', () => follower.leads.size === 0);
    // at least one occurrence is due while nobody leads
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await admin.flushall();
    await world.everywhere('thaw');
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

describe('a lock that is deleted', () => {
  it.concurrent('is taken anew by its leader at the next heartbeat, under a larger token', async () => {
    await using world = await HostileWorld.start();
    const { pair, admin } = world;
    const [before] = pair.leader.observer.of('leadershipGained').filter(({ job }) => job === JOB);
    await admin.del(pair.lock(JOB));
    await pair.until('its leader knows', () => pair.leader.observer.of('leadershipLost').length > 0);
    await pair.goesOn({ withinMs: 1_000 + SLACK_MS });
    const after = pair.replicas
      .flatMap(({ observer }) => observer.of('leadershipGained'))
      .filter(({ job }) => job === JOB);
    expect(after.every((lead) => lead === before || lead.fencingToken > (before?.fencingToken ?? Infinity))).toBe(true);
    expect(pair.leader.observer.of('leadershipLost')).toEqual([
      expect.objectContaining({ job: JOB, reason: 'preempted' }),
    ]);
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent(
    'and taken by another at once has two leaders for a heartbeat and an attempt at most, told apart by their tokens',
    async () => {
      await using world = await HostileWorld.start();
      const { pair, admin } = world;
      const { leader, follower } = pair;
      let deletedMs = NaN;
      // now and then the leader's next renewal comes before the follower's bid, and it has its lock back
      while (!follower.leads.has(JOB)) {
        const lost = leader.observer.of('leadershipLost').length;
        await pair.until('the leader leads', () => leader.leads.has(JOB));
        deletedMs = performance.now();
        await admin.del(pair.lock(JOB));
        await wakeFollower(world);
        await pair.until('its leader knows', () => leader.observer.of('leadershipLost').length > lost);
        await pair.until('somebody leads', () => pair.replicas.some(({ leads }) => leads.has(JOB)));
      }
      const late = deletedMs + UNAWARE_MS + SLACK_MS;
      await pair.until('it has been known for long', () => performance.now() > late);
      await pair.goesOn();
      const runs = pair.runs.filter(({ job, startedMs }) => job === JOB && startedMs > late);
      expect(new Set(runs.map(({ process }) => process)).size).toBeLessThanOrEqual(1);
      const tokens = (node: string, untilMs = Infinity) =>
        pair.runs
          .filter((run) => run.process === node && run.job === JOB && run.startedMs < untilMs)
          .map((run) => run.fencingToken);
      expect(tokens('b')).not.toEqual([]);
      expect(Math.min(...tokens('b'))).toBeGreaterThan(Math.max(...tokens('a', deletedMs)));
    },
  );
});

describe('a foreign lock', () => {
  it.concurrent(
    'without a time to live is given one, which is said once, and the job goes on when it is over',
    async () => {
      await using world = await HostileWorld.start();
      const { pair, admin } = world;
      await admin.set(pair.lock(JOB), 'an-old-application');
      await pair.until('the job goes on', () =>
        pair.replicas.some(({ observer }) => observer.of('lockMended').length > 0),
      );
      expect(await admin.pttl(pair.lock(JOB))).toBeGreaterThan(0);
      await pair.goesOn({ withinMs: LOCK_EXPIRY_MS + 1_000 + SLACK_MS });
      const warnings = pair.replicas
        .flatMap(({ complaints }) => complaints)
        .filter((line) => line.includes('for ever'));
      expect(warnings).toEqual([
        expect.stringContaining(`:${JOB}] was locked for ever by 'an-old-application'; the lock now expires`),
      ]);
      expect(pair.violations()).toEqual([]);
    },
  );
});

describe('a state that is deleted', () => {
  it.concurrent('is written anew, and neither tokens nor occurrences go back', async () => {
    await using world = await HostileWorld.start();
    const { pair, admin } = world;
    for (const name of pair.jobNames) await admin.del(pair.state(name));
    await pair.goesOn();
    await pair.leader.supervisor.stop();
    await pair.goesOn({ withinMs: LOCK_EXPIRY_MS + 1_000 + SLACK_MS });
    expect(pair.follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations()).toEqual([]);
  });
});
