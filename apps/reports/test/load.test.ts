import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from './support/client.js';
import { until } from './support/processes.js';
import { type Replica, World } from './support/world.js';

const RUNS = 1_200;

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
      assert.ok((await completed()) < 200, 'the worker was killed while there was work');
      workers[kill % 2] = await world.program('worker');
    }
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
