import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { HEARTBEAT_INTERVAL_MS, LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { FaultRun } from './support/fault-run.js';

const JOB = 'price-tick';

describe('a Redis that is flushed', () => {
  it.concurrent('causes no overlap with a short lockExpiry either', async () => {
    await using faultRun = await FaultRun.start({}, { options: { lockExpiry: 800 } });
    const { pair, admin } = faultRun;
    for (let flushes = 0; flushes < 5; flushes++) {
      await admin.flushall();
      await faultRun.wakeFollower();
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
    await faultRun.wakeFollower();
    await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length, {
      withinMs: LOCK_EXPIRY_MS + 1_000 + SLACK_MS,
    });
    expect(performance.now() - flushedMs).toBeGreaterThan(LOCK_EXPIRY_MS);
    expect(leader.leads.size).toBe(0);
    expect(new Set(leader.observer.of('leadershipLost').map(({ reason }) => reason))).toEqual(new Set(['expired']));

    await pair.goesOn();
    proxies[0].thaw();
    await pair.until('the leader follows', () => leader.observer.of('storeRecovered').length > 0);
    await pair.goesOn();
    expect(follower.leads.size).toBe(pair.jobNames.length);
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent('reports occurrences without a known claim as data-lost, once', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin, proxies } = faultRun;
    const { follower } = pair;
    proxies[0].freeze();
    await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length);
    await pair.goesOn();
    proxies[1].freeze();
    await pair.until('there is no leader', () => follower.leads.size === 0);
    // at least one occurrence is due without a leader
    await delay(1_500);
    await admin.flushall();
    await faultRun.everywhere('thaw');
    await pair.goesOn();
    const windows = pair.replicas
      .flatMap(({ observer }) => observer.of('occurrencesMissed'))
      .filter(({ reason }) => reason === 'data-lost')
      .sort((one, other) => one.from.getTime() - other.from.getTime());
    expect(windows.length).toBeGreaterThan(0);
    for (const [index, { from }] of windows.entries())
      expect(from.getTime()).toBeGreaterThanOrEqual(windows[index - 1]?.to.getTime() ?? 0);
    expect(pair.violations()).toEqual([]);
  });
});

describe('a record that is deleted', () => {
  it.concurrent('ends the term when its leader looks, and the next one has a larger token', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    const { leader } = pair;
    const [before] = leader.observer.of('leadershipGained').filter(({ job }) => job === JOB);
    await admin.del(pair.record(JOB));
    await faultRun.wakeFollower();
    await pair.until('its leader knows', () => leader.observer.of('leadershipLost').length > 0, {
      withinMs: 3 * HEARTBEAT_INTERVAL_MS + SLACK_MS,
    });
    // the other replica may have led beside it until now
    const knownMs = performance.now();
    await pair.goesOn();
    expect(leader.observer.of('leadershipLost')).toEqual([expect.objectContaining({ job: JOB, reason: 'preempted' })]);
    const tokens = pair.replicas
      .flatMap(({ observer }) => observer.of('leadershipGained'))
      .filter((gained) => gained.job === JOB && gained !== before)
      .map(({ fencingToken }) => fencingToken);
    expect(Math.min(...tokens)).toBeGreaterThan(before?.fencingToken ?? Infinity);
    expect(pair.violations({ sinceMs: knownMs })).toEqual([]);
  });
});
