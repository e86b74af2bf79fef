import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SLACK_MS } from '../../../tools/replicas/busy-machine.js';
import { brokenFences, overlaps } from '../../../tools/replicas/history.js';
import { useRedis } from '../../../tools/replicas/redis/use-redis.js';
import { type Job, JOBS, LASTING, LOCK_EXPIRY_MS, Workers } from '../../../tools/replicas/workers.js';
import { type WorkerEvent } from '../../../tools/replicas/worker-process.js';

const PERIOD_MS = 500;

/** Every run takes longer than the period, so that there is nearly always one in flight. */
const SLOW = { PRICE_TICK_SLOW_EVERY: '1', PRICE_TICK_SLOW_FOR: '700ms' };

const redis = useRedis();

function expectSound(workers: Workers): void {
  expect(overlaps(workers.runs())).toEqual([]);
  expect(brokenFences(workers.runs())).toEqual([]);
}

function ranOften(workers: Workers, job: Job): boolean {
  return workers.runs(job).length > 5;
}

/** The slots that a `tickDropped` stands for: `count` of them, up to `scheduledAt`. */
function droppedSlots({ payload }: WorkerEvent): number[] {
  const newest = Date.parse(payload?.scheduledAt ?? '');
  return Array.from({ length: payload?.count ?? 0 }, (_, older) => newest - older * PERIOD_MS);
}

describe('three workers', () => {
  it('have exactly one leader for each job, and only leaders run', async () => {
    await using workers = await Workers.start(redis().url, LASTING);
    await workers.until('each has run some', () => ranOften(workers, 'heartbeat') && ranOften(workers, 'price-tick'));

    await workers.until('each job is led', () => JOBS.every((job) => workers.leadersOf(job).length === 1));
    for (const { job, node, fencingToken } of workers.runs()) {
      const terms = workers.eventsOf(job, 'leadershipGained').filter((gained) => gained.node === node);
      expect(terms.map(({ payload }) => payload?.fencingToken)).toContain(fencingToken);
    }
    expectSound(workers);
  });

  it('drop the ticks that are due while a slow run is in flight, and never stack them', async () => {
    const slow = { PRICE_TICK_SLOW_EVERY: '3', PRICE_TICK_SLOW_FOR: '1200ms', ...LASTING };
    await using workers = await Workers.start(redis().url, slow);
    await workers.until(
      'slow runs ended',
      () => workers.runs('price-tick').filter(({ outcome }) => outcome).length > 8,
    );

    const dropped = workers.eventsOf('price-tick', 'tickDropped');
    expect(dropped.map(({ payload }) => payload?.reason)).toContain('overlap');
    for (const [node, token] of new Set(
      workers.runs('price-tick').map((run) => [run.node, run.fencingToken] as const),
    )) {
      const ran = workers.runs('price-tick').filter((run) => run.node === node && run.fencingToken === token);
      const slots = ran.map(({ scheduledAtMs }) => scheduledAtMs);
      const [first, last] = [Math.min(...slots), Math.max(...slots)];
      const settled = [...slots, ...dropped.filter((drop) => drop.node === node).flatMap(droppedSlots)];
      const grid = Array.from({ length: (last - first) / PERIOD_MS + 1 }, (_, slot) => first + slot * PERIOD_MS);
      // each slot of a term was run or dropped, and none was both
      expect(settled.filter((slot) => slot >= first && slot <= last).sort()).toEqual(grid);
    }
    expectSound(workers);
  });
});

describe('a leader that is stopped in the middle of a run', () => {
  it('finishes the run, hands over, and the next slot of the grid runs elsewhere', async () => {
    await using workers = await Workers.start(redis().url, { ...SLOW, ...LASTING });
    const leader = workers.leaderOf('price-tick');
    const inFlight = () => workers.runs('price-tick').find(({ outcome }) => outcome === undefined);
    await workers.until('a run has just begun', () => Date.now() - (inFlight()?.startedAtMs ?? 0) < 200);
    const run = inFlight();
    const exit = await leader.stop();

    expect(exit).toEqual({ code: 0, signal: null });
    const finished = workers.runs('price-tick').find(({ startedAtMs }) => startedAtMs === run?.startedAtMs);
    expect(finished).toMatchObject({ node: leader.node, outcome: 'runSucceeded' });
    const [released] = workers.eventsOf('price-tick', 'leadershipReleased');
    expect(released?.payload).toMatchObject({ reason: 'shutdown', confirmed: true });

    const elsewhere = () => workers.runs('price-tick').find(({ node }) => node !== leader.node);
    await workers.until('it runs elsewhere', () => elsewhere() !== undefined);
    const gainedAtMs = workers.eventsOf('price-tick', 'leadershipGained').at(-1)?.atMs ?? Infinity;
    const releasedAtMs = released?.atMs ?? 0;
    expect(gainedAtMs - releasedAtMs).toBeLessThan(SLACK_MS);
    // the first slot of the new term, or the one after that if it led only just before it; a slot that it slept through is told
    const firstSlot = elsewhere()?.scheduledAtMs ?? 0;
    const told = workers.eventsOf('price-tick', 'tickDropped').filter(({ node }) => node !== leader.node);
    const sleptThrough = told.flatMap(droppedSlots).filter((slot) => slot < firstSlot);
    const slotsLater = (firstSlot - gainedAtMs) / PERIOD_MS - sleptThrough.length;
    expect(slotsLater).toBeGreaterThan(-1);
    expect(slotsLater).toBeLessThan(2);
    expectSound(workers);
  });

  it('lets nothing overlap when all of them stop at once, and every process exits by itself', async () => {
    await using workers = await Workers.start(redis().url, { ...SLOW, ...LASTING });
    await workers.until('a run is in flight', () => workers.runs('price-tick').some(({ outcome }) => !outcome));
    expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));

    expect(workers.runs().map(({ outcome }) => outcome)).not.toContain(undefined);
    expect(workers.runs().map(({ outcome }) => outcome)).not.toContain('runFailed');
    expectSound(workers);
  });
});

describe('a leader that is killed', () => {
  it('is replaced once its locks expire, and the grid keeps its phase', async () => {
    await using workers = await Workers.start(redis().url, SLOW);
    const victims = new Set<string>();
    for (let death = 1; death <= 2; death++) {
      const leader = workers.leaderOf('price-tick');
      const jobs = JOBS.filter((job) => workers.leaderOf(job) === leader);
      await workers.until('it runs', () => workers.runs('price-tick').some(({ node }) => node === leader.node));
      const killedAtMs = Date.now();
      victims.add(leader.node);
      await leader.kill();

      await workers.until('another leads', () => jobs.every((job) => workers.leadersOf(job).length === 1));
      for (const job of jobs) {
        const gainedAtMs = workers.eventsOf(job, 'leadershipGained').at(-1)?.atMs ?? Infinity;
        expect(gainedAtMs - killedAtMs).toBeLessThan(LOCK_EXPIRY_MS + SLACK_MS);
      }
      await workers.untilJobsGoOn(Date.now());
    }

    const runs = workers.runs('price-tick');
    expect(victims.size).toBe(2);
    expect(new Set(runs.map(({ node }) => node)).size).toBe(3);
    expect(new Set(runs.map(({ scheduledAtMs }) => scheduledAtMs % PERIOD_MS))).toEqual(new Set([0]));
    expect(new Set(runs.map(({ scheduledAtMs }) => scheduledAtMs)).size).toBe(runs.length);
    expectSound(workers);
  });

  it('leaves no gap shorter than the delay between the runs of an interval job', async () => {
    await using workers = await Workers.start(redis().url, { HEARTBEAT_DELAY: '800ms', ...LASTING });
    await workers.untilJobsGoOn(Date.now());
    await workers.leaderOf('heartbeat').stop();
    await workers.until('it beats on', () => new Set(workers.runs('heartbeat').map(({ node }) => node)).size === 2);
    await delay(1_000);

    const runs = workers.runs('heartbeat');
    const gaps = runs.slice(1).map(({ startedAtMs }, index) => startedAtMs - (runs[index]?.endedAtMs ?? 0));
    // Redis and the replicas round their clocks each for itself
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(800 - 5);
    expectSound(workers);
  });
});
