import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { violations } from '../../tools/replicas/history.js';
import { WorkerProcess } from '../../tools/replicas/worker-process.js';
import { JOBS, QUICK, Workers } from '../../tools/replicas/workers.js';
import { type Counts, footprint, grown } from '../support/footprint.js';
import { reportsIn, unaccountedOccurrences } from '../support/occurrences.js';
import { type Kind, KINDS, type Place, startPlace } from './support/place.js';

const MINUTES = Number(process.env['DEPLOY_MINUTES'] ?? 10);
const EVERY_MS = 10_000;
/** So long until each path has been taken and its code is compiled. */
const WARM_UP_MS = 60_000;
/** The pool of the reports closes a connection that was not used for 10 s. */
const AT_REST_MS = 12_000;
const SAMPLES = 8;

/**
 * A leak of one in each deploy would be 54. A replica that has written a report has one connection more, and on a busy
 * machine a lease may end.
 */
const SLACK = { objects: 20, entries: 20, resources: 2, connections: 3, leases: 3, heapBytes: 2e6, rssBytes: 3e7 };

/** Answers each request with what its process holds. */
const ANSWERS = `${String(footprint)}
process.on('message', async ({ question }) => {
  const value = { ...(await footprint()), rssBytes: process.memoryUsage.rss() };
  process.send({ answers: question, value: { ...value, resources: process.getActiveResourcesInfo().length } });
});
process.channel.unref();`;

/** What the server has of its only project. */
const ON_SERVER: Readonly<Record<Kind, (place: Place) => Promise<Counts>>> = {
  Redis: async (place) => ({
    keys: Number(await place.run('DBSIZE')),
    leases: Number(await place.run('ZCARD {deploys}:leases')),
    connections: String(await place.run('CLIENT LIST')).split('user=app').length,
  }),
  PostgreSQL: async (place) => {
    const tables = ['leases', 'records', 'incarnations'].map((name) => [name, `singleton_job.${name}`]);
    const all = [...tables, ['connections', "pg_stat_activity WHERE usename = 'app'"]];
    const columns = all.map(([name, rows]) => `(SELECT count(*)::int FROM ${String(rows)}) AS ${String(name)}`);
    return ((await place.run(`SELECT ${columns.join()}`)) as [Counts])[0];
  },
};

describe(`${String(MINUTES)} minutes with a deploy every ten seconds`, () => {
  it.concurrent.each(KINDS)(
    'on a %s leave nothing behind, and break no promise',
    async (kind) => {
      await using place = await startPlace(kind);
      const variables = {
        ...QUICK,
        SINGLETON_JOB_CONNECTION: place.urlOf(),
        SINGLETON_JOB_PROJECT_NAME: 'deploys',
        SINGLETON_JOB_JOBS__DAILY_REPORT__CRON: '* * * * * *',
        DAILY_REPORT_TAKES: '50ms',
        PRICE_IMPORT_TAKES: '50ms',
      };
      const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(ANSWERS)}`];
      // it is never replaced
      const first = new WorkerProcess('first', variables, { execArgv });
      await using workers = Workers.of(first);

      await workers.until('it has written a report', () => workers.eventsOf('daily-report', 'runSucceeded').length > 0);
      const start = (node: string) => workers.add(new WorkerProcess(node, variables));
      await Promise.all([start('b'), start('c')]);

      const post = async (path: string) => (await fetch(`${first.url}/${path}`, { method: 'POST' })).text();
      const deploy = async (round: number) => {
        for (const old of workers.running.filter((one) => one !== first)) {
          await start(`${old.node.slice(0, 1)}${String(round)}`);
          expect(await old.stop()).toEqual({ code: 0, signal: null });
        }
        for (const job of JOBS) await post(`jobs/${job}/step-down`);
        await post('jobs/price-tick/trigger');
        await post('prices/import');
      };
      const deployUntil = async (atMs: number) => {
        for (let round = 1; performance.now() < atMs; round += 1) await Promise.all([deploy(round), delay(EVERY_MS)]);
      };
      /** The least of some moments, while it leads nothing: what is under way comes and goes. */
      const measure = async () => {
        for (const job of JOBS) if (workers.leadersOf(job).includes(first)) await post(`jobs/${job}/step-down`);
        await delay(AT_REST_MS);
        const least: Record<string, number> = {};
        for (let sample = 0; sample < SAMPLES; sample += 1) {
          const counts = { ...(await first.request<Counts>('footprint')), ...(await ON_SERVER[kind](place)) };
          for (const [what, count] of Object.entries(counts)) least[what] = Math.min(count, least[what] ?? Infinity);
          await delay(300 + 100 * sample);
        }
        return least;
      };

      const startedMs = performance.now();
      await deployUntil(startedMs + WARM_UP_MS);
      const before = await measure();
      await deployUntil(startedMs + MINUTES * 60_000);
      expect(grown(before, await measure(), SLACK)).toEqual([]);
      expect(first.events.filter(({ event }) => event === 'leadershipGained').length).toBeGreaterThan(2 * MINUTES);

      await workers.stop();
      const reports = workers.events
        .filter(({ payload }) => payload?.job === 'daily-report')
        .flatMap(({ event, payload = {}, node, atMs }) => reportsIn(event, payload, { node, atMs }));
      expect(unaccountedOccurrences(workers.runs('daily-report'), reports)).toEqual([]);
      expect(violations(workers.runs())).toEqual([]);
    },
    (MINUTES + 10) * 60_000,
  );
});
