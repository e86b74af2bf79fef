import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { LOCK_EXPIRY_MS } from './support/in-process-replica.js';
import { FaultRun } from './support/fault-run.js';

/** A crash loses what was written since the last snapshot: here more than a lease, and than a renewal of a lock. */
const LIVE_MS = 12_000;
const BACK_MS = 1_000 + LOCK_EXPIRY_MS + SLACK_MS;

async function restartFromSnapshot({ server }: FaultRun): Promise<void> {
  await server.kill({ keepSnapshot: true });
  await server.up();
}

describe('a Redis that restarts from an older snapshot', () => {
  it.concurrent('keeps a leader from before the snapshot, and no run is aborted', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin } = faultRun;
    await admin.save();
    await delay(LIVE_MS);
    await restartFromSnapshot(faultRun);
    await pair.goesOn({ withinMs: BACK_MS });
    await pair.goesOn();
    expect(pair.leader.leads.size).toBe(pair.jobNames.length);
    expect(pair.leader.observer.of('leadershipLost')).toEqual([]);
    expect(pair.leader.observer.of('runCancelled')).toEqual([]);
    expect(pair.violations()).toEqual([]);
  });

  it.concurrent('makes no second leader if the leader changed since the snapshot, and tokens grow', async () => {
    await using faultRun = await FaultRun.start();
    const { pair, admin, proxies } = faultRun;
    const { leader, follower } = pair;
    await admin.save();
    proxies[0].freeze();
    await pair.until('the follower leads', () => follower.leads.size === pair.jobNames.length);
    proxies[0].thaw();
    await pair.until('the first one is back', () => leader.observer.of('storeRecovered').length > 0);
    await delay(LIVE_MS);
    const restartMs = performance.now();
    await restartFromSnapshot(faultRun);
    await pair.goesOn({ withinMs: BACK_MS });
    await pair.goesOn();
    // the locks name the first leader again, so no replica may take them until its old session has ended
    const gained = pair.replicas
      .flatMap(({ observer }) => observer.events)
      .filter(({ event, atMs }) => event === 'leadershipGained' && atMs > restartMs);
    expect(gained).toHaveLength(pair.jobNames.length);
    expect(Math.min(...gained.map(({ atMs }) => atMs)) - restartMs).toBeGreaterThan(LOCK_EXPIRY_MS);
    expect(pair.violations()).toEqual([]);
  });
});
