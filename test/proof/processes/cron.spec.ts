import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { brokenFences, overlaps, reportsIn, unaccountedOccurrences } from '../../../tools/replicas/history.js';
import { useRedis } from '../../../tools/replicas/redis/use-redis.js';
import { LOCK_EXPIRY_MS, type WorkerRun, Workers } from '../../../tools/replicas/workers.js';

const redis = useRedis();

const EVERY_5_S = { DAILY_REPORT_CRON: '*/5 * * * * *' };

/** Shorter than the life of a lock, and time enough to end a leader in. */
const BEFORE_MS = 2_500;

/** Waits until the next occurrence is that far away. Answers when it is due. */
async function untilJustBeforeOne(): Promise<number> {
  const dueAtMs = Math.ceil((Date.now() + BEFORE_MS) / 5_000) * 5_000;
  await delay(dueAtMs - BEFORE_MS - Date.now());
  return dueAtMs;
}

function runsOf(workers: Workers, dueAtMs: number): WorkerRun[] {
  return workers.runs('daily-report').filter(({ scheduledAtMs }) => scheduledAtMs === dueAtMs);
}

describe('a cron occurrence', () => {
  it('runs once, on another replica, if the leader is killed just before it', async () => {
    await using workers = await Workers.start(redis().url, EVERY_5_S);
    const dueAtMs = await untilJustBeforeOne();
    const leader = workers.leaderOf('daily-report');
    await leader.kill();
    await workers.until('it ran', () => runsOf(workers, dueAtMs).some(({ outcome }) => outcome === 'runSucceeded'));
    // time for another to run it too
    await delay(LOCK_EXPIRY_MS);

    expect(runsOf(workers, dueAtMs)).toEqual([expect.objectContaining({ cause: 'misfire', outcome: 'runSucceeded' })]);
    expect(runsOf(workers, dueAtMs)[0]?.node).not.toBe(leader.node);
    expect(workers.eventsOf('daily-report', 'occurrencesMissed')).toEqual([]);
  });

  it('runs once, in time, on another replica, if the leader is stopped just before it', async () => {
    await using workers = await Workers.start(redis().url, EVERY_5_S);
    const dueAtMs = await untilJustBeforeOne();
    const leader = workers.leaderOf('daily-report');
    await leader.stop();
    await workers.until('it ran', () => runsOf(workers, dueAtMs).some(({ outcome }) => outcome === 'runSucceeded'));
    await delay(LOCK_EXPIRY_MS);

    expect(runsOf(workers, dueAtMs)).toEqual([expect.objectContaining({ outcome: 'runSucceeded' })]);
    expect(runsOf(workers, dueAtMs)[0]?.node).not.toBe(leader.node);
  });

  it('is started once, or reported once, whatever becomes of the leaders', async () => {
    await using workers = await Workers.start(redis().url, { DAILY_REPORT_CRON: '* * * * * *' });
    const ran = () => workers.runs('daily-report');
    await workers.until('it runs', () => ran().length > 2);
    await workers.leaderOf('daily-report').stop();
    await workers.until('it runs elsewhere', () => new Set(ran().map(({ node }) => node)).size === 2);
    await workers.until('another leads', () => workers.leadersOf('daily-report').length === 1);
    await workers.leaderOf('daily-report').kill();
    await workers.until('it runs at the last one', () => new Set(ran().map(({ node }) => node)).size === 3);
    await delay(1_500);
    await workers.stop();

    const events = workers.events.filter(({ payload }) => payload?.job === 'daily-report');
    const reports = events.flatMap(({ event, payload = {}, node, atMs }) => reportsIn(event, payload, { node, atMs }));
    expect(unaccountedOccurrences(ran(), reports)).toEqual([]);
    expect(overlaps(workers.runs())).toEqual([]);
    expect(brokenFences(workers.runs())).toEqual([]);
  });
});
