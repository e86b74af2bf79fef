import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JobAttempt } from '../src/durable-jobs/job-store.js';
import type { Client } from './support/client.js';
import { World } from './support/world.js';

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

describe('without Redis', () => {
  it('a web replica and a worker with a running job are measured, and end on SIGTERM', async () => {
    await using world = await World.start({ STOP_LIMIT_MS: 8_000 }, { runs: RUNS });
    const [web, worker] = await Promise.all([world.program('web'), world.program('worker', { PAGE_TAKES_MS: 500 })]);
    await web.untilStatus(await web.submit(), 'Running');
    await world.redis.down('SIGKILL');
    for (const program of [web, worker]) assert.ok(await program.metric(/^target_info/));
    assert.equal(await web.replica.stop(), 'SIGTERM');
    // after its limit
    assert.equal(await worker.replica.stop(), 1);
  });
});
