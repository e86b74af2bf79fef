import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { SLACK_MS } from '../../tools/replicas/busy-machine.js';
import { brokenFences, violations } from '../../tools/replicas/history.js';
import { LASTING, LOCK_EXPIRY_MS, Workers } from '../../tools/replicas/workers.js';
import { monitored } from '../../tools/servers/monitor.js';
import { type OwnServer } from '../../tools/servers/own-server.js';
import { RedisServer } from '../../tools/servers/redis-server.js';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';
import { SqliteServer } from '../../tools/servers/sqlite-server.js';
import { reportsIn, unaccountedOccurrences } from '../support/occurrences.js';
import { oneForAll } from '../support/use-redis.js';

/** Every run lasts longer than a lock lives without renewals. */
const LONG_RUNS = { PRICE_TICK_SLOW_EVERY: '1', PRICE_TICK_SLOW_FOR: '7s', SINGLETON_JOB_SHUTDOWN_TIMEOUT: '30s' };

async function commandsOfRedis(url: string, during: () => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  await monitored(url, (line) => lines.push(line), during);
  // not what a script does: that is one command
  return lines.filter((line) => !line.includes(' lua]'));
}

/**
 * One test for each promise of docs/guarantees.md, on three real processes: P1 is the first one. `test/faults/` has the
 * others.
 */
describe.each(SERVER_KINDS)('Three processes keep on %s', (kind) => {
  const start = (): Promise<OwnServer> => SERVERS[kind]();
  const server = oneForAll<OwnServer>(start);
  /** For the test that shuts it down. */
  const outage = oneForAll<OwnServer>(start);

  it.concurrent(
    'P1, P6: a leader that is suspended past its lease starts nothing, and its run is aborted',
    async () => {
      // however late another replica follows, the run has not ended by itself
      await using workers = await Workers.start(server().url, { ...LONG_RUNS, PRICE_TICK_SLOW_FOR: '10m' });
      const run = await workers.runInFlight('price-tick', Infinity);
      const leader = workers.leaderOf('price-tick');
      // one that is suspended within a transaction keeps all others from writing
      if (server() instanceof SqliteServer) await server().down();
      const suspendedAtMs = leader.suspend();
      if (server() instanceof SqliteServer) await server().up();
      const elsewhere = () =>
        workers.runs('price-tick').filter(({ node, startedAtMs }) => node !== run.node && startedAtMs > suspendedAtMs);
      await workers.until('another replica runs the job', () => elsewhere().length > 0);
      const resumedAtMs = leader.resume();

      const aborted = await workers.until('its run is aborted', () =>
        leader.events.find(({ event, payload }) => event === 'runCancelled' && payload?.job === run.job),
      );
      expect(aborted.payload).toMatchObject({ code: 'LEASE_LOST', fencingToken: run.fencingToken });
      expect(aborted.atMs - resumedAtMs).toBeLessThan(SLACK_MS);
      const underOldLease = workers.runs().filter(({ fencingToken, startedAtMs, node }) => {
        const term = leader.events.find(
          ({ event, payload }) => event === 'leadershipGained' && payload?.fencingToken === fencingToken,
        );
        return node === leader.node && startedAtMs > suspendedAtMs && (term?.atMs ?? Infinity) < suspendedAtMs;
      });
      expect(underOldLease).toEqual([]);
      expect(brokenFences(workers.runs())).toEqual([]);
    },
  );

  it.concurrent('P2, P3, P4: after a kill and a stop each cron occurrence is started or reported once', async () => {
    const everySecond = { SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '* * * * * *' };
    await using workers = await Workers.start(server().url, everySecond, { clocksAheadMs: [-500, 0, 500] });
    const nodes = () => new Set(workers.runs('daily-report').map(({ node }) => node)).size;
    await workers.untilJobsGoOn(Date.now());
    await workers.until('it runs', () => nodes() === 1);
    const killed = workers.leaderOf('daily-report');
    const gained = () => workers.eventsOf('daily-report', 'leadershipGained').at(-1);
    const [before, killedAtMs] = [gained(), Date.now()];
    await killed.kill();
    await workers.until('it runs elsewhere', () => nodes() === 2);
    expect((gained()?.atMs ?? Infinity) - killedAtMs).toBeLessThan(LOCK_EXPIRY_MS + SLACK_MS);
    expect(gained()?.payload?.fencingToken).toBeGreaterThan(before?.payload?.fencingToken ?? Infinity);
    await workers.untilJobsGoOn(Date.now());
    await workers.leaderOf('daily-report').stop();
    await workers.until('it runs on the last replica', () => nodes() === 3);
    await workers.stop();

    const events = workers.events.filter(({ payload }) => payload?.job === 'daily-report');
    const reports = events
      .flatMap(({ event, payload = {}, node, atMs }) => reportsIn(event, payload, { node, atMs }))
      .map((report) => (report.node === killed.node ? { ...report, reason: 'unwritten' } : report));
    expect(unaccountedOccurrences(workers.runs('daily-report'), reports)).toEqual([]);
    expect(violations(workers.runs())).toEqual([]);
  });

  it.concurrent(
    'P4, P5: a leader that is stopped renews its lock until its run has ended, then hands over',
    async () => {
      await using workers = await Workers.start(server().url, LONG_RUNS);
      const run = await workers.runInFlight('price-tick', 300);
      const leader = workers.leaderOf('price-tick');
      const stoppedAtMs = Date.now();
      expect(await leader.stop()).toEqual({ code: 0, signal: null });

      const finished = workers.runs('price-tick').find(({ startedAtMs }) => startedAtMs === run.startedAtMs);
      expect(finished).toMatchObject({ node: leader.node, outcome: 'runSucceeded' });
      expect((finished?.endedAtMs ?? 0) - stoppedAtMs).toBeGreaterThan(LOCK_EXPIRY_MS);
      const [released] = workers.eventsOf('price-tick', 'leadershipReleased');
      expect(released?.payload).toMatchObject({ reason: 'shutdown', confirmed: true });
      const elsewhere = () => workers.runs('price-tick').find(({ node }) => node !== leader.node);
      const next = await workers.until('it runs elsewhere', elsewhere);
      expect(next.startedAtMs - (released?.atMs ?? 0)).toBeLessThan(SLACK_MS);
      expect(violations(workers.runs())).toEqual([]);
    },
  );

  it.concurrent('P4, P8: jobs go on after an outage, and no process ends', async () => {
    await using workers = await Workers.start(outage().url);
    await workers.untilJobsGoOn(Date.now());
    await outage().down();
    await delay(LOCK_EXPIRY_MS + 1_000);
    await outage().up();
    await workers.untilJobsGoOn(Date.now(), { withinMs: 2 * LOCK_EXPIRY_MS + 1_000 + SLACK_MS });
    expect(workers.running).toHaveLength(3);
    expect(await workers.stop()).toEqual(Array(3).fill({ code: 0, signal: null }));
    expect(violations(workers.runs())).toEqual([]);
  });
});

// whether a tick calls the store is decided above it, for all stores alike
describe('Three processes on a Redis that is monitored', () => {
  const server = oneForAll(() => RedisServer.start());

  it.concurrent('P7: a tick costs the server nothing', async () => {
    await using workers = await Workers.start(server().url, LASTING);
    const ticks = () => workers.runs('price-tick').length + workers.runs('heartbeat').length;
    const before = ticks();
    const all = await commandsOfRedis(server().url, () => workers.until('many ticks ran', () => ticks() > before + 30));
    const commands = all.filter((line) => line.includes(workers.project));
    // each replica writes the records of its jobs every 10 s, in one command; heartbeats write none
    expect(commands.filter((line) => line.includes('fencingToken')).length).toBeLessThan(10);
    expect(commands.length).toBeGreaterThan(5);
  });
});
