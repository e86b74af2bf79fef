import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JobAttempt } from '../src/durable-jobs/job-store.js';
import type { Client } from './support/client.js';
import { until } from './support/processes.js';
import { type Replica, World } from './support/world.js';

const RUNS = 1_200;

/** The four deaths of README.md, and what Redis holds right after each. */
const DEATHS = [
  {
    point: 'claim',
    when: 'after the claim, before the first line of the handler',
    status: 'Running',
    pages: null,
    result: 0,
  },
  { point: 'page', when: 'between two pages', status: 'Running', pages: '1', result: 0 },
  {
    point: 'result',
    when: 'after the result is stored, before the completion',
    status: 'Running',
    pages: '3',
    result: 1,
  },
  {
    point: 'complete',
    when: 'after the completion, before the worker has the answer',
    status: 'Completed',
    pages: '3',
    result: 1,
  },
] as const;

describe('a worker that is killed', () => {
  let world: World;
  let web: Client;
  before(async () => {
    world = await World.start({}, { runs: RUNS });
    web = await world.program('web');
  });
  after(() => world[Symbol.asyncDispose]());

  for (const { point, when, status, pages, result } of DEATHS) {
    it(`${when}: the report is completed once, with one result`, async () => {
      const dying = await world.program('worker', { DIE_AT: point });
      const id = await web.submit();
      assert.equal(await dying.replica.exited, 'SIGKILL');
      assert.equal((await web.status(id)).status, status);
      const { client } = world.redis;
      assert.equal(await client.hget(`reports:checkpoint:${id}`, 'pages'), pages);
      assert.equal(await client.exists(`reports:result:${id}`), result);

      const worker = await world.program('worker');
      await web.untilStatus(id, 'Completed');
      await world.untilIdle();
      await web.assertRows(id, RUNS);
      assert.equal((await world.completions()).get(id), 1);
      const attempts = await web.call<JobAttempt[]>('store', 'getHistory', id);
      // a busy machine may add one
      assert.ok(status === 'Completed' ? attempts.length === 1 : attempts.length >= 2);
      // what was saved is not read again
      assert.equal(worker.replica.output().includes('reads after nothing'), point === 'claim');
      await worker.replica.stop();
    });
  }
});

describe('under load', () => {
  it('200 reports on three replicas and two workers, each killed twice, give 200 results', async () => {
    await using world = await World.start({ PAGE_TAKES_MS: 100 }, { runs: RUNS });
    const webs = await Promise.all([world.web(), world.web(), world.web()]);
    const workers = await Promise.all([world.program('worker'), world.program('worker')]);
    // each of them twice, to two replicas
    const ids = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const submit = (web: number) =>
          (webs[web % 3] as Client).submit({ title: `Report ${String(i)}` }, `key-${String(i)}`);
        const [id, again] = await Promise.all([submit(i), submit(i + 1)]);
        assert.equal(again, id);
        return id;
      }),
    );
    assert.equal(new Set(ids).size, 200);
    const completed = async () => {
      const times = await world.completions();
      return ids.filter((id) => times.has(id)).length;
    };
    for (const [kill, at] of [10, 40, 70, 100].entries()) {
      await until(`${String(at)} reports`, async () => (await completed()) >= at);
      await workers[kill % 2]?.replica.stop('SIGKILL');
      workers[kill % 2] = await world.program('worker');
    }
    assert.ok((await completed()) < 200, 'the last worker was killed while there was work');
    await until('200 reports', async () => (await completed()) === 200, 120_000);
    await world.untilIdle();
    const times = await world.completions();
    for (const id of ids) {
      assert.equal(times.get(id), 1);
      await webs[0].assertRows(id, RUNS);
    }
    const results = await world.redis.client.keys('reports:result:report-????????-*');
    assert.equal(results.length, 200);
    assert.ok((await world.events('stalled')).size > 0, 'reports of killed workers were recovered');
  });

  it('a Redis that is killed and comes back with its data loses nothing', async () => {
    await using world = await World.start({ PAGE_TAKES_MS: 50, CONCURRENCY: 2 }, { runs: RUNS });
    const webs = await Promise.all([world.web(), world.web()]);
    const workers: Replica[] = [(await world.program('worker')).replica, (await world.program('worker')).replica];
    // clients that try again, with the same idempotency key, until they are answered 202
    const submit = (i: number) =>
      until('202', async () => {
        const body = { title: `Report ${String(i)}`, job: 'seeded' };
        const headers = { 'idempotency-key': `key-${String(i)}` };
        const response = await (webs[i % 2] as Client).request('/api/reports', { method: 'POST', body, headers });
        const answer = (await response.json()) as { id: string };
        assert.ok([202, 503].includes(response.status), String(response.status));
        return response.status === 202 && answer.id;
      });
    const early = Array.from({ length: 30 }, (_, i) => submit(i));
    await until('some results', async () => (await world.completions()).size >= 5);
    await world.redis.down('SIGKILL');
    const late = Array.from({ length: 30 }, (_, i) => submit(30 + i));
    await world.redis.up();
    const ids = await Promise.all([...early, ...late]);
    assert.equal(new Set(ids).size, 60);
    for (const id of ids) {
      await webs[0].untilStatus(id, 'Completed');
      await webs[0].assertRows(id, RUNS);
    }
    const times = await world.completions();
    assert.ok(ids.every((id) => times.get(id) === 1));
    assert.ok(
      workers.every(({ child }) => child.exitCode === null),
      'no process ended',
    );
  });
});

describe('without Redis', () => {
  it('a web replica and a worker with a running job are measured, and end on SIGTERM', async () => {
    await using world = await World.start({ STOP_LIMIT_MS: 2_000 }, { runs: RUNS });
    const [web, worker] = await Promise.all([world.program('web'), world.program('worker', { PAGE_TAKES_MS: 500 })]);
    await web.untilStatus(await web.submit(), 'Running');
    await world.redis.down('SIGKILL');
    for (const program of [web, worker]) assert.ok(await program.metric(/^target_info/));
    assert.equal(await web.replica.stop(), 'SIGTERM');
    // after its limit
    assert.equal(await worker.replica.stop(), 1);
  });
});
