import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobAttempt, JobInfo } from '../src/durable-jobs/job-store.js';
import type { Client } from './support/client.js';
import { until } from './support/processes.js';
import { World } from './support/world.js';

describe('durable jobs', () => {
  let world: World;
  let web: Client;
  let worker: Client;
  before(async () => {
    world = await World.start({ CONCURRENCY: 1, UNKNOWN_TYPE_DELAY_MS: 600_000 }, { runs: 1_200 });
    [web, worker] = await Promise.all([world.program('web'), world.program('worker')]);
  });
  after(() => world[Symbol.asyncDispose]());

  const enqueue = (type: string, payload: unknown, options = {}) =>
    web.call<string>('jobs', 'enqueue', type, payload, options);
  const schedule = (payload: unknown, runAt: string) => web.call<string>('jobs', 'schedule', 'echo', payload, runAt);
  const scheduleRaw = (type: string, payload: unknown, config: object, runAt = new Date().toISOString()) =>
    web.call<string>('jobs', 'scheduleRaw', type, payload, config, runAt);
  const cancel = (id: string) => web.call<boolean>('jobs', 'cancel', id);
  const retry = (id: string) => web.call<boolean>('jobs', 'retry', id);
  const jobs = (...page: unknown[]) => web.call<JobInfo[]>('store', 'getJobs', ...page);
  const history = (id: string) => web.call<JobAttempt[]>('store', 'getHistory', id);
  const status = (id: string) => web.call<JobInfo | null>('store', 'getStatus', id);
  const untilStatus = (id: string, wanted: JobInfo['status']) =>
    until(`${id} to be ${wanted}`, async () => {
      const info = await status(id);
      return info?.status === wanted && info;
    });

  it('are completed, and enqueued once for each id', async () => {
    const id = await enqueue('echo', { n: 1 }, { id: 'echo-once', idempotencyKey: 'k' });
    await enqueue('echo', { n: 2 }, { id: 'echo-once' });
    const info = await untilStatus(id, 'Completed');
    assert.deepEqual([info.payload, info.attempts, info.idempotencyKey], [{ n: 1 }, 1, 'k']);
    await enqueue('echo', { n: 3 }, { id: 'echo-once' });
    await delay(300);
    assert.equal((await world.completions()).get(id), 1);
  });

  it('are refused when no handler has their type, or when an option is wrong', async () => {
    await assert.rejects(enqueue('unknown', {}), /There is no @JobHandler/);
    await assert.rejects(
      scheduleRaw('echo', {}, { timeout: 2 ** 31, retryDelay: [1] }),
      /timeout.*2147483647(?=[^]*one entry)/,
    );
    await assert.rejects(
      enqueue('echo', {}, { followedBy: { type: 'echo', payload: {}, id: 'echo-after' } }),
      /follow/,
    );
  });

  it('of a type that their worker does not know are offered again, without a failed attempt', async () => {
    const id = await scheduleRaw('of-the-next-version', {}, {});
    await until('the warning', () => worker.replica.output().includes("no @JobHandler('of-the-next-version')"));
    await until('the delay', async () => (await status(id))?.nextRunAt);
    const { status: now, maxRetries, error } = await untilStatus(id, 'Pending');
    assert.deepEqual([now, maxRetries, error], ['Pending', 0, null]);
    assert.equal(await cancel(id), true);
  });

  it('are de-duplicated while the first has not ended', async () => {
    const blocker = await enqueue('sleep', { ms: 60_000 });
    const first = await enqueue('echo', { key: 'same' });
    assert.equal(await enqueue('echo', { key: 'same' }), first);
    await cancel(blocker);
    await untilStatus(first, 'Completed');
    assert.notEqual(await enqueue('echo', { key: 'same' }), first);
  });

  it('are claimed by priority, the highest first', async () => {
    const blocker = await enqueue('sleep', { ms: 60_000 });
    await untilStatus(blocker, 'Running');
    for (const priority of [0, 9, 3]) await enqueue('echo', { rank: priority }, { priority });
    await cancel(blocker);
    const ranks = () => [...worker.replica.output().matchAll(/"rank":(\d)/g)].map(([, rank]) => rank);
    await until('three echoes', () => ranks().length === 3);
    assert.deepEqual(ranks(), ['9', '3', '0']);
  });

  it('are tried again after their retry delay, twice as long each time', async () => {
    const id = await enqueue('fail', { times: 2 });
    await untilStatus(id, 'Failed');
    await untilStatus(id, 'Completed');
    const attempts = await history(id);
    const errors = attempts.map(({ error }) => error);
    assert.deepEqual(errors, ['failure 1', 'failure 2', undefined]);
    const gap = (n: number) => Date.parse(attempts[n]?.startedAt ?? '') - Date.parse(attempts[n - 1]?.endedAt ?? '');
    assert.ok(gap(1) >= 195 && gap(2) >= 395, `${String(gap(1))} ms, ${String(gap(2))} ms`);
  });

  it('are dead when their retries are used up, until a person retries them', async () => {
    const id = await enqueue('fail', { times: 3 });
    await untilStatus(id, 'DeadLettered');
    const [dead, ...others] = await jobs('DeadLettered');
    assert.deepEqual([dead?.id, dead?.error, others.length], [id, 'failure 3', 0]);
    assert.equal(await cancel(id), false);
    assert.equal(await retry(id), true);
    await untilStatus(id, 'Completed');
    assert.equal(await retry(id), false);
    assert.equal(await retry('echo-unknown'), false);
  });

  it('are retried by one of six requests at once, whether they are failed or dead', async () => {
    const id = await scheduleRaw('fail', { times: 2 }, { retries: 1, retryDelay: 60_000 });
    for (const wanted of ['Failed', 'DeadLettered'] as const) {
      await untilStatus(id, wanted);
      // no run between the requests
      worker.replica.child.kill('SIGSTOP');
      const answers = await Promise.all(Array.from({ length: 6 }, () => retry(id)));
      worker.replica.child.kill('SIGCONT');
      assert.deepEqual(answers.sort(), [false, false, false, false, false, true]);
    }
    await untilStatus(id, 'Completed');
  });

  it('that are cancelled and retried at once are known and end as one of both says', async () => {
    for (let i = 0; i < 10; i++) {
      const id = await scheduleRaw('fail', { times: 9 }, { retries: 1, retryDelay: 60_000 });
      await untilStatus(id, 'Failed');
      const [isCancelled, isRetried] = await Promise.all([cancel(id), retry(id)]);
      assert.ok(isCancelled || isRetried);
      await until('its end', async () => (await status(id))?.completedAt);
      // a cancellation wins over a retry that came before it
      assert.equal((await status(id))?.status, isCancelled ? 'Cancelled' : 'DeadLettered');
    }
  });

  it('fail with a message when they time out, although their handler ignores its signal', async () => {
    const id = await scheduleRaw('hang', {}, { timeout: 300, retries: 1, retryDelay: 1_000 });
    const { startedAt, nextRunAt } = await untilStatus(id, 'Failed');
    // the retry delay begins with the end of the run
    assert.ok(Date.parse(nextRunAt ?? '') - Date.parse(startedAt ?? '') >= 1_295, `${nextRunAt} after ${startedAt}`);
    assert.ok(Date.parse(nextRunAt ?? '') <= Date.now() + 1_000);
    assert.equal((await untilStatus(id, 'DeadLettered')).error, 'timed out after 300 ms');
  });

  it('keep their lock for longer than its duration while they run', async () => {
    const id = await enqueue('sleep', { ms: 4_500 });
    assert.equal((await untilStatus(id, 'Completed')).attempts, 1);
  });

  it('run at their time, with options of their own if wanted', async () => {
    const runAt = new Date(Date.now() + 1_000).toISOString();
    const id = await schedule({}, runAt);
    assert.deepEqual([(await status(id))?.status, (await status(id))?.nextRunAt], ['Pending', runAt]);
    const config = { timeout: 200, priority: 4 };
    const raw = await scheduleRaw('sleep', { ms: 9_000 }, config, runAt);
    assert.ok(Date.parse((await untilStatus(id, 'Completed')).startedAt ?? '') >= Date.parse(runAt) - 1);
    const { error, priority } = await untilStatus(raw, 'DeadLettered');
    assert.deepEqual([error, priority], ['timed out after 200 ms', 4]);
  });

  it('are cancelled while they wait, and are never run then', async () => {
    const runAt = Date.now() + 2_000;
    const id = await schedule({ never: 1 }, new Date(runAt).toISOString());
    assert.equal(await cancel(id), true);
    assert.equal((await status(id))?.status, 'Cancelled');
    assert.equal(await cancel(id), false);
    // a list misses a job that is on its way to another one
    await until('it is listed', async () => (await jobs('Cancelled')).some((info) => info.id === id));
    await untilStatus(await schedule({}, new Date(runAt + 200).toISOString()), 'Completed');
    assert.ok(!worker.replica.output().includes('never'));
  });

  it('are cancelled while they run: the signal fires, and nothing is tried again', async () => {
    const id = await enqueue('sleep', { ms: 200_000 });
    await untilStatus(id, 'Running');
    assert.equal(await cancel(id), true);
    await untilStatus(id, 'Cancelled');
    await until('the signal', () => worker.replica.output().includes('signal fired'));
    assert.equal(await retry(id), false);
    assert.equal((await jobs('Cancelled')).filter((info) => info.id === id).length, 1);
    assert.ok(!(await jobs('DeadLettered')).some((info) => info.id === id));
  });

  it('are listed by status, in pages', async () => {
    const all = await jobs('Completed');
    const page = await jobs('Completed', 1, 2);
    assert.deepEqual(page, all.slice(1, 3));
    assert.ok(all.length > 3 && all.every((info) => info.status === 'Completed'));

    // a list is not read as a whole
    const runAt = new Date(Date.now() + 3_600_000).toISOString();
    await Promise.all(Array.from({ length: 400 }, () => schedule({}, runAt)));
    const { client } = world.redis;
    await client.config('RESETSTAT');
    assert.equal((await jobs('Pending', 3, 2)).length, 2);
    const reads = Number(/cmdstat_hgetall:calls=(\d+)/.exec(await client.info('commandstats'))?.[1]);
    assert.ok(reads > 0 && reads < 300, `${String(reads)} reads`);
  });

  it('of a killed worker are recovered, also when it was the second worker that was killed', async () => {
    const id = await enqueue('sleep', { ms: 2_000 });
    await untilStatus(id, 'Running');
    await worker.replica.stop('SIGKILL');
    const second = await world.program('worker');
    await until('the second run', () => second.replica.output().includes('sleeps'));
    await second.replica.stop('SIGKILL');
    worker = await world.program('worker');
    assert.ok((await untilStatus(id, 'Completed')).attempts >= 3);
    assert.ok(((await world.events('stalled')).get(id) ?? 0) >= 2);
  });

  it('of a paused worker are taken over, and their signal fires when that worker goes on', async () => {
    const id = await enqueue('sleep', { ms: 200_000 });
    await untilStatus(id, 'Running');
    worker.replica.child.kill('SIGSTOP');
    const second = await world.program('worker');
    await until('the second run', () => second.replica.output().includes('sleeps'));
    worker.replica.child.kill('SIGCONT');
    await until('the signal', () => worker.replica.output().includes('signal fired'));
    await until('no job', async () => (await worker.metric(/^durable_jobs_worker_utilisation/)) === 0);
    assert.equal((await status(id))?.status, 'Running');
    await cancel(id);
    await untilStatus(id, 'Cancelled');
    await second.replica.stop();
  });

  it('that were cancelled when their worker was killed are not run again', async () => {
    const id = await enqueue('sleep', { ms: 200_000 });
    await untilStatus(id, 'Running');
    worker.replica.child.kill('SIGSTOP');
    await cancel(id);
    await worker.replica.stop('SIGKILL');
    worker = await world.program('worker');
    await untilStatus(id, 'Cancelled');
    assert.ok(!worker.replica.output().includes('sleeps'));
  });

  it('are given back by a worker that stops, between two steps and without a failed attempt', async () => {
    const slow = await world.program('worker', { PAGE_TAKES_MS: 500 });
    await worker.replica.stop();
    const id = await web.submit();
    await until('the second page', () => (slow.replica.output().match(/reads after/g)?.length ?? 0) >= 2);
    assert.equal(await slow.replica.stop(), 'SIGTERM');
    assert.equal((await status(id))?.status, 'Pending');
    worker = await world.program('worker');
    await untilStatus(id, 'Completed');
    assert.ok(!worker.replica.output().includes('reads after nothing'), 'it went on from the checkpoint');
    await web.assertRows(id, 1_200);
    const [first, second] = await history(id);
    assert.deepEqual([first?.error, second?.error], ['given back: the worker stops', undefined]);
  });

  it('are cancelled at their next progress when the message to their worker was lost', async () => {
    await worker.replica.stop();
    worker = await world.program('worker', { PAGE_TAKES_MS: 500 });
    const id = await web.submit();
    await until('the first page', () => worker.replica.output().includes('reads after nothing'));
    await world.redis.client.set(`reports:cancelled:${id}`, 'Running');
    await untilStatus(id, 'Cancelled');
  });
});
