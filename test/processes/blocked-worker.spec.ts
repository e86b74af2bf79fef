import { expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { violations } from '../../tools/replicas/history.js';
import { until } from '../../tools/replicas/until.js';
import { JOBS, LOCK_EXPIRY_MS, Workers } from '../../tools/replicas/workers.js';
import { SERVER_KINDS, SERVERS } from '../../tools/servers/servers.js';

/** A report computes for twice as long as a lease lives without heartbeats. */
const COMPUTES_MS = 2 * LOCK_EXPIRY_MS;
const COMPUTES = { DAILY_REPORT_TAKES: '10ms', DAILY_REPORT_COMPUTES: `${COMPUTES_MS}ms` };

it.concurrent.each(SERVER_KINDS)(
  'Three processes with heartbeat threads keep their leaders while one is blocked for twice its lockExpiry, on %s',
  async (kind) => {
    await using server = await SERVERS[kind]();
    await using workers = await Workers.start(server.url, { ...COMPUTES, SINGLETON_JOB_HEARTBEAT_THREAD: 'true' });
    await workers.untilJobsGoOn(Date.now());
    const leaders = JOBS.map((job) => workers.leaderOf(job));
    const leader = workers.leaderOf('daily-report');
    // on a busy machine a leader may not answer a command within its 2 s
    await until('the report is triggered', async () => {
      const { status } = await fetch(`${leader.url}/jobs/daily-report/trigger`, { method: 'POST' });
      return status === 202;
    });

    const report = () => workers.runs('daily-report').find(({ outcome }) => outcome !== undefined);
    const run = await workers.until('the report is written', report, { withinMs: 60_000 });
    expect(run).toMatchObject({ node: leader.node, outcome: 'runSucceeded' });
    expect(run.endedAtMs - run.startedAtMs).toBeGreaterThanOrEqual(COMPUTES_MS);
    await workers.untilJobsGoOn(run.endedAtMs);
    // the events of a blocked process arrive after the block
    await delay(LOCK_EXPIRY_MS);

    expect(JOBS.map((job) => workers.leaderOf(job))).toEqual(leaders);
    expect(workers.events.filter(({ event }) => event === 'leadershipLost')).toEqual([]);
    for (const [index, job] of JOBS.entries())
      expect(new Set(workers.runs(job).map(({ node }) => node))).toEqual(new Set([leaders[index]?.node]));
    expect(violations(workers.runs())).toEqual([]);
    expect(await workers.stop()).toEqual([0, 1, 2].map(() => ({ code: 0, signal: null })));
  },
);
