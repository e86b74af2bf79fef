import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { SLACK_MS } from '../../../tools/replicas/busy-machine.js';
import { brokenFences, overlaps } from '../../../tools/replicas/history.js';
import { useRedis } from '../../../tools/replicas/redis/use-redis.js';
import { until } from '../../../tools/replicas/until.js';
import { LASTING, LOCK_EXPIRY_MS, Workers } from '../../../tools/replicas/workers.js';
import { type WorkerProcess } from '../../../tools/replicas/worker-process.js';

/** Every run lasts for longer than its lock would without renewals. */
const LONG_RUNS = { PRICE_TICK_SLOW_EVERY: '1', PRICE_TICK_SLOW_FOR: '7s', SHUTDOWN_TIMEOUT: '30s' };

const redis = useRedis();

/** The sessions of a worker, in the order in which they began, and whether they have ended. */
async function sessionsOf({ node }: WorkerProcess, project: string): Promise<[number: string, hasEnded: boolean][]> {
  const client = new Redis(redis().url);
  try {
    const listed = await client.zrange(`{${project}:sessions}`, '0', '-1', 'WITHSCORES');
    const found = listed.flatMap((session, index): [string, boolean][] => {
      const [, name, number = ''] = /^(\w+)-\w+\.(\d+)@\d+$/.exec(session) ?? [];
      return name === node ? [[number, Number(listed[index + 1]) < 0]] : [];
    });
    return found.toSorted();
  } finally {
    client.disconnect();
  }
}

describe('a leader that is stopped by SIGSTOP for longer than its lock lives', () => {
  it('starts nothing when it goes on, its run is told that the lease is lost, another leads in time, and it is back under a new session', async () => {
    await using workers = await Workers.start(redis().url, LONG_RUNS);
    const run = await workers.freshRun('price-tick');
    const stopped = workers.leaderOf('price-tick');
    expect(stopped.node).toBe(run.node);
    const stoppedAtMs = stopped.suspend();

    const gained = () => workers.eventsOf('price-tick', 'leadershipGained').filter(({ atMs }) => atMs > stoppedAtMs);
    await workers.until('another leads', () => gained().length > 0);
    expect((gained()[0]?.atMs ?? Infinity) - stoppedAtMs).toBeLessThan(LOCK_EXPIRY_MS + SLACK_MS);
    const running = () => workers.runs('price-tick').filter(({ node }) => node !== stopped.node);
    await workers.until('it runs', () => running().some(({ startedAtMs }) => startedAtMs > stoppedAtMs));
    const wentOnAtMs = stopped.resume();

    const told = () =>
      stopped.events.find(({ event, payload }) => event === 'runCancelled' && payload?.job === run.job);
    await workers.until('its run is told', () => told() !== undefined);
    expect(told()?.payload).toMatchObject({ code: 'LEASE_LOST', fencingToken: run.fencingToken });
    expect((told()?.atMs ?? Infinity) - wentOnAtMs).toBeLessThan(SLACK_MS);
    await workers.until('the others go on', () => running().some(({ startedAtMs }) => startedAtMs > wentOnAtMs));
    const isBack = ([number, hasEnded]: [string, boolean]): boolean => number !== '1' && !hasEnded;
    await until('it is back', async () => (await sessionsOf(stopped, workers.project)).some(isBack));
    expect(await sessionsOf(stopped, workers.project)).toContainEqual(['1', true]);

    const late = workers.runs().filter(({ node, startedAtMs }) => node === stopped.node && startedAtMs > stoppedAtMs);
    const earlierTokens = stopped.events
      .filter(({ event, atMs }) => event === 'leadershipGained' && atMs < stoppedAtMs)
      .map(({ payload }) => payload?.fencingToken);
    expect(late.filter(({ fencingToken }) => earlierTokens.includes(fencingToken))).toEqual([]);
    // while it stood still it could act on nothing: what remains is everybody else
    const others = workers.runs().filter(({ node, startedAtMs }) => node !== stopped.node || startedAtMs > wentOnAtMs);
    expect(overlaps(others)).toEqual([]);
    expect(brokenFences(workers.runs())).toEqual([]);
    const blocked = /the event loop of .* stood still for .*s, while these ran: .*price-tick/;
    await workers.until('it says how long', () => stopped.lines.some(({ text }) => blocked.test(text)));
  });

  it('leads on when it stood still for less, and its run is not told of anything', async () => {
    await using workers = await Workers.start(redis().url, { ...LONG_RUNS, ...LASTING });
    const run = await workers.freshRun('price-tick');
    const stopped = workers.leaderOf('price-tick');
    stopped.suspend();
    await delay(3_000);
    stopped.resume();
    const ended = () => workers.runs('price-tick').find(({ startedAtMs }) => startedAtMs === run.startedAtMs);
    await workers.until('its run has ended', () => ended()?.outcome !== undefined);
    expect(ended()?.outcome).toBe('runSucceeded');
    expect(overlaps(workers.runs())).toEqual([]);
  });
});

describe('a leader that is told to stop in a run that outlives its lock', () => {
  // the double execution of db-scheduler #365: there, heartbeats ended with the signal
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'by %s renews it until the run has ended, and nobody runs beside it',
    async (signal) => {
      await using workers = await Workers.start(redis().url, LONG_RUNS);
      const run = await workers.freshRun('price-tick');
      const leader = workers.leaderOf('price-tick');
      const askedAtMs = Date.now();
      expect(await leader.stop(signal)).toEqual({ code: 0, signal: null });

      const finished = workers.runs('price-tick').find(({ startedAtMs }) => startedAtMs === run.startedAtMs);
      expect(finished).toMatchObject({ node: leader.node, outcome: 'runSucceeded' });
      expect((finished?.endedAtMs ?? 0) - askedAtMs).toBeGreaterThan(LOCK_EXPIRY_MS);
      const elsewhere = () =>
        workers.runs('price-tick').find(({ node, startedAtMs }) => node !== leader.node && startedAtMs > askedAtMs);
      await workers.until('it runs elsewhere', () => elsewhere() !== undefined);
      expect(elsewhere()?.startedAtMs).toBeGreaterThanOrEqual(finished?.endedAtMs ?? Infinity);
      expect(overlaps(workers.runs())).toEqual([]);
      expect(brokenFences(workers.runs())).toEqual([]);
    },
  );
});
