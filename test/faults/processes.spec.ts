import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { overlaps } from '../../tools/replicas/history.js';
import { LASTING, Workers } from '../../tools/replicas/workers.js';
import { KINDS, startPlace } from './support/place.js';

const LONG_RUNS = { PRICE_TICK_SLOW_EVERY: '1', PRICE_TICK_SLOW_FOR: '7s', SINGLETON_JOB_SHUTDOWN_TIMEOUT: '30s' };
/** For which a stop waits for a server that does not answer. */
const RELEASE_MS = 2_000;

describe.each(KINDS)('processes on a %s', (kind) => {
  it.concurrent('whose leader is suspended for less than its lease keep it, and its run is not aborted', async () => {
    await using place = await startPlace(kind);
    await using workers = await Workers.start(place.urlOf(), { ...LONG_RUNS, ...LASTING });
    const run = await workers.freshRun('price-tick');
    const leader = workers.leaderOf('price-tick');
    leader.suspend();
    await delay(3_000);
    leader.resume();
    const ended = () => workers.runs('price-tick').find(({ startedAtMs }) => startedAtMs === run.startedAtMs);
    await workers.until('its run has ended', () => ended()?.outcome !== undefined);
    expect(ended()?.outcome).toBe('runSucceeded');
    expect(workers.leaderOf('price-tick')).toBe(leader);
    expect(overlaps(workers.runs())).toEqual([]);
  });

  it.concurrent.each(['pause', 'kill'] as const)(
    'stop within 2 s of its %s, and exit by themselves, while leases are valid',
    async (fail) => {
      await using place = await startPlace(kind);
      // far more than 2 s, and their leases outlive the test
      const variables = { ...LASTING, SINGLETON_JOB_SHUTDOWN_TIMEOUT: '30s' };
      await using workers = await Workers.start(place.urlOf(), variables);
      await place.server[fail]();
      const stoppedAtMs = Date.now();
      expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));
      expect(Date.now() - stoppedAtMs).toBeLessThan(RELEASE_MS + SLACK_MS);
    },
  );
});
