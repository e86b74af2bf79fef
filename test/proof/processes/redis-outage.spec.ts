import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { type RedisServer } from '../../../tools/replicas/redis/index.js';
import { LATE, SILENT, SLACK_MS } from '../../../tools/replicas/busy-machine.js';
import { brokenFences, overlaps } from '../../../tools/replicas/history.js';
import { useRedisServer } from '../../../tools/replicas/redis/use-redis.js';
import { JOBS, LOCK_EXPIRY_MS, Workers } from '../../../tools/replicas/workers.js';

/** Longer than any lease. */
const OUTAGE_MS = LOCK_EXPIRY_MS + 3_000;
/** From the end of an outage until runs go on, also where the data is gone and a lease must pass. */
const RECOVERY_MS = 2 * LOCK_EXPIRY_MS + 1_000 + SLACK_MS;
/** More than a stop may take. */
const STOP = { SHUTDOWN_TIMEOUT: '3s' };
const STOP_MS = 3_000 + SLACK_MS;

const redis = useRedisServer();

interface Outage {
  readonly name: string;
  readonly begin: (server: RedisServer) => Promise<void>;
  readonly end: (server: RedisServer) => Promise<void>;
}

const OUTAGES: readonly Outage[] = [
  {
    name: 'hung for longer than a lease',
    begin: (server) => server.pause(),
    end: (server) => server.resume(),
  },
  {
    name: 'was started again empty',
    begin: (server) => server.down({ keepData: false }),
    end: (server) => server.up(),
  },
];

describe.each(OUTAGES)('after a Redis that $name', ({ begin, end }) => {
  it('the jobs go on, nothing has overlapped, and every process exits by itself', async () => {
    await using workers = await Workers.start(redis().url, STOP);
    await workers.untilJobsGoOn(Date.now());
    await begin(redis());
    const beganAtMs = Date.now();
    await delay(OUTAGE_MS);
    // a replica may reach the server before the test hears that it is up
    const endsAtMs = Date.now();
    await end(redis());

    await workers.untilJobsGoOn(Date.now(), { withinMs: RECOVERY_MS });
    await workers.until('each job is led', () => JOBS.every((job) => workers.leadersOf(job).length === 1));
    expect(workers.running).toHaveLength(3);
    expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));

    const during = workers.runs().filter(({ startedAtMs }) => startedAtMs > beganAtMs + LOCK_EXPIRY_MS);
    expect(during.filter(({ startedAtMs }) => startedAtMs < endsAtMs)).toEqual([]);
    expect(overlaps(workers.runs())).toEqual([]);
    expect(brokenFences(workers.runs())).toEqual([]);
  });
});

describe('an outage of Redis', () => {
  it('is told in two lines by each process, and one more for each job that it lost', async () => {
    await using workers = await Workers.start(redis().url, STOP);
    const beganAtMs = Date.now();
    await redis().down();
    await delay(OUTAGE_MS);
    const endsAtMs = Date.now();
    await redis().up();
    await workers.untilJobsGoOn(Date.now(), { withinMs: RECOVERY_MS });
    await workers.until('all are back', () =>
      workers.all.every(
        ({ events }) =>
          events.findLast(({ event }) => event.startsWith('store') && event !== 'requestDenied')?.event ===
          'storeRecovered',
      ),
    );

    for (const { lines, events } of workers.all) {
      const lost = events.filter(({ event, atMs }) => event === 'leadershipLost' && atMs > beganAtMs);
      const told = lines.filter(
        ({ atMs, text }) => atMs > beganAtMs && !/became LEADER/.test(text) && !LATE.test(text),
      );
      expect(told.filter(({ text }) => text.includes('lost leadership'))).toHaveLength(lost.length);
      const others = told.filter(({ text }) => !text.includes('lost leadership'));
      expect(others.filter(({ atMs }) => atMs < endsAtMs).length).toBeLessThanOrEqual(1);
      // a busy machine may be slow to answer for a moment later on
      const after = others.filter(({ atMs, text }) => atMs >= endsAtMs && !SILENT.test(text)).map(({ text }) => text);
      expect(after).toEqual(after.map(() => expect.stringContaining('can use Redis again')));
    }
    expect(workers.eventsOf('heartbeat', 'leadershipLost')).toHaveLength(1);
  });

  it('keeps nobody from stopping in time', async () => {
    await using workers = await Workers.start(redis().url, STOP);
    await redis().pause();
    try {
      const askedAtMs = Date.now();
      expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));
      expect(Date.now() - askedAtMs).toBeLessThan(STOP_MS);
    } finally {
      await redis().resume();
    }
  });
});
