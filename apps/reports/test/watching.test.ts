import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { JobAttempt, JobInfo } from '../src/durable-jobs/job-store.js';
import { until } from './support/processes.js';
import { World } from './support/world.js';

describe('watching', () => {
  it('counts jobs, and has every metric that an alert uses', async () => {
    await using world = await World.start();
    const [web, worker] = await Promise.all([world.program('web'), world.program('worker', { CONCURRENCY: 2 })]);
    const enqueue = (type: string, payload: unknown) => web.call<string>('scheduler', 'enqueue', type, payload, {});
    assert.equal(await worker.metric(/^durable_jobs_dead_total.*type="fail"/), 0);
    await enqueue('echo', {});
    await enqueue('fail', { times: 9 });
    await until('a dead job', async () => (await worker.metric(/^durable_jobs_dead_total.*type="fail"/)) === 1);
    const samples = {
      submitted: await web.metric(/^durable_jobs_submitted_total.*type="fail"/),
      completed: await worker.metric(/^durable_jobs_completed_total.*type="echo"/),
      failedAtFirst: await worker.metric(/^durable_jobs_failed_total.*type="fail".*retries="0"/),
      failedAtLast: await worker.metric(/^durable_jobs_failed_total.*type="fail".*retries="2"/),
      durations: await worker.metric(/^durable_jobs_duration_seconds_count.*type="fail"/),
      workers: await web.metric(/^durable_jobs_workers/),
      idle: await worker.metric(/^durable_jobs_worker_utilisation/),
    };
    const wanted = { submitted: 1, completed: 1, failedAtFirst: 1, failedAtLast: 1, durations: 3, workers: 1, idle: 0 };
    assert.deepEqual(samples, wanted);
    for (const ms of [3_000, 3_001, 3_002]) await enqueue('sleep', { ms });
    await until('busy', async () => (await worker.metric(/^durable_jobs_worker_utilisation/)) === 1);
    assert.equal(await web.metric(/^durable_jobs_queue_depth.*prioritized/), 1);

    const scrape = async (url: string) => (await fetch(`${url}/metrics`)).text();
    const scraped = (await scrape(web.replica.url)) + (await scrape(worker.replica.url));
    const rules = await readFile(join(import.meta.dirname, '../../prometheus-rules.yml'), 'utf8');
    const used = new Set(rules.match(/durable_jobs_\w+/g));
    assert.ok(used.size >= 6);
    for (const name of used) assert.ok(scraped.includes(`\n${name}{`), name);
  });

  it('ends the run of a stuck job, which is tried again while retries are left', async () => {
    await using world = await World.start({
      REPORT_EXPECTED_MS: 500,
      SWEEP_PERIOD_MS: 1_000,
      REPORT_RETRY_DELAY_MS: 1,
    });
    const web = await world.program('web');
    const slow = await world.program('worker', { PAGE_TAKES_MS: 60_000 });
    const id = await web.submit();
    // a job of a type that takes longer is not stuck
    const other = await web.call<string>('scheduler', 'enqueue', 'sleep', { ms: 2_500 });
    await until('the sweep', async () => (await web.status(id)).attempts > 1);
    await until('the metric', async () => web.metric(/^durable_jobs_stuck_total\{.*\} [1-9]/));
    const status = () => web.call<JobInfo>('scheduler', 'getStatus', other);
    await until('the other job', async () => (await status()).status === 'Completed');
    assert.equal((await status()).attempts, 1);
    await slow.replica.stop('SIGKILL');
    await world.worker();
    await web.untilStatus(id, 'Completed');
    const [first] = await web.call<JobAttempt[]>('store', 'getHistory', id);
    assert.equal(first?.error, 'stuck: it has run for more than 1000 ms');
    assert.match(web.replica.output(), /stuck.*tried again/);
  });
});
