import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { until } from './support/processes.js';
import { World } from './support/world.js';

it('jobs are counted, and every metric is there that an alert uses', async () => {
  await using world = await World.start();
  const [web, worker] = await Promise.all([world.program('web'), world.program('worker', { CONCURRENCY: 2 })]);
  const enqueue = (type: string, payload: unknown) => web.call<string>('jobs', 'enqueue', type, payload);
  assert.equal(await worker.metric(/^durable_jobs_dead_total.*type="fail"/), 0);
  await enqueue('echo', {});
  await enqueue('fail', { times: 9 });
  await enqueue('hang', {});
  const dead = (type: string) => worker.metric(new RegExp(`^durable_jobs_dead_total.*type="${type}"`));
  await until('two dead jobs', async () => (await dead('fail')) === 1 && (await dead('hang')) === 1);
  const samples = {
    submitted: await web.metric(/^durable_jobs_submitted_total.*type="fail"/),
    completed: await worker.metric(/^bullmq_jobs_completed.*name="echo"/),
    retried: await worker.metric(/^bullmq_jobs_delayed.*name="fail"/),
    failed: await worker.metric(/^bullmq_jobs_failed.*name="fail"/),
    durations: await worker.metric(/^bullmq_job_duration.*_count.*name="fail".*state="failed"/),
    // what DurableJobsSlow divides
    timedOut: await worker.metric(/^durable_jobs_timed_out_total.*type="hang"/),
    runs: await worker.metric(/^durable_jobs_runs_total.*type="hang"/),
    workers: await web.metric(/^durable_jobs_workers/),
  };
  const wanted = { submitted: 1, completed: 1, retried: 2, failed: 1, durations: 1, timedOut: 1, runs: 1, workers: 1 };
  assert.deepEqual(samples, wanted);
  for (const ms of [3_000, 3_001, 3_002]) await enqueue('sleep', { ms });
  await until('busy', async () => (await worker.metric(/^durable_jobs_worker_utilisation/)) === 1);
  assert.equal(await web.metric(/^bullmq_queue_jobs.*prioritized/), 1);

  const scrape = async (url: string) => (await fetch(`${url}/metrics`)).text();
  const scraped = (await scrape(web.replica.url)) + (await scrape(worker.replica.url));
  const rules = await readFile(join(import.meta.dirname, '../../prometheus-rules.yml'), 'utf8');
  const used = new Set(rules.match(/(?:durable_jobs|bullmq)_\w+(?=[{[)])/g));
  assert.ok(used.size >= 6);
  for (const name of used) assert.ok(scraped.includes(`\n${name}{`), name);
});
