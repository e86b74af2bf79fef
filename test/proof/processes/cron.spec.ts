import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { brokenFences, overlaps } from '../../../tools/replicas/history.js';
import { useRedis } from '../../../tools/replicas/redis/use-redis.js';
import { LOCK_EXPIRY_MS, type WorkerRun, Workers } from '../../../tools/replicas/workers.js';
import { type WorkerEvent } from '../../../tools/replicas/worker-process.js';

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

    const started = ran().map(({ scheduledAtMs }) => scheduledAtMs);
    expect(new Set(started).size).toBe(started.length);
    const events = workers.events.filter(({ payload }) => payload?.job === 'daily-report');
    const reported = events.flatMap(reportedSeconds);
    const unconfirmed = events
      .filter(({ payload }) => payload?.reason === 'start-not-confirmed')
      .flatMap(reportedSeconds);
    expect(new Set(reported).size).toBe(reported.length);
    // none is lost in silence; what a killed leader had started may be reported too, as not confirmed
    const lastMs = Math.max(...started);
    const settled = new Set([...started, ...reported.filter((scheduledAtMs) => scheduledAtMs <= lastMs)]);
    expect([...settled].sort()).toEqual(seconds(Math.min(...started), lastMs));
    const twice = reported.filter((scheduledAtMs) => started.includes(scheduledAtMs));
    expect(unconfirmed).toEqual(expect.arrayContaining(twice));
    expect(overlaps(workers.runs())).toEqual([]);
    expect(brokenFences(workers.runs())).toEqual([]);
  });
});

/** The occurrences that an event reports as not run. */
function reportedSeconds({ event, payload }: WorkerEvent): number[] {
  if (event === 'occurrencesMissed') {
    return seconds(Date.parse(payload?.from ?? '') + 1, Date.parse(payload?.to ?? ''));
  }
  if (event !== 'tickDropped') return [];
  const newest = Date.parse(payload?.scheduledAt ?? '');
  return seconds(newest - ((payload?.count ?? 1) - 1) * 1_000, newest);
}

/** Every whole second from `fromMs` to `toMs`, both included. */
function seconds(fromMs: number, toMs: number): number[] {
  const first = Math.ceil(fromMs / 1_000);
  return Array.from({ length: Math.floor(toMs / 1_000) - first + 1 }, (_, index) => (first + index) * 1_000);
}
