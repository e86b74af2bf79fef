import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from './support/processes.js';
import { World } from './support/world.js';

const TICK_MS = 4_000;

describe('the daily report', () => {
  it('is enqueued once for each occurrence, although a scheduler was killed after it had claimed one', async () => {
    await using world = await World.start({ DAILY_CRON: '*/4 * * * * *', LOCK_EXPIRY_MS: 1_000 });
    await world.worker();
    const dying = await world.program('web', { DIE_AT: 'tick' });
    const survivor = await world.program('web');
    assert.equal(await dying.replica.exited, 'SIGKILL');
    const claimed = Number(/tick of (\d+)/.exec(dying.replica.output())?.[1]);

    // reported, and not run by the survivor: a claim counts as a start
    const misfires = /^singleton_job_misfires_total\{(?=.*daily-report)(?=.*start-not-confirmed)/;
    await until('the report of the miss', async () => (await survivor.metric(misfires)) === 1);
    await until('the next tick', () => survivor.replica.output().includes('tick of'));
    await until('the job', async () => (await world.completions()).get(`report-${String(claimed)}`));

    // every tick enqueues two occurrences: none is lost, none is doubled
    const last = claimed + 3 * TICK_MS;
    await until('three more', async () => (await world.completions()).get(`report-${String(last)}`));
    const times = await world.completions();
    for (let at = claimed; at <= last; at += TICK_MS) assert.equal(times.get(`report-${String(at)}`), 1, String(at));
    const ticks = [...survivor.replica.output().matchAll(/tick of (\d+)/g)].map(([, at]) => Number(at));
    assert.ok(!ticks.includes(claimed));
  });

  it('is seeded once after a fresh deployment of several replicas', async () => {
    await using world = await World.start({ DAILY_CRON: '0 3 1 1 *' });
    await Promise.all([world.web(), world.web(), world.worker()]);
    const id = `report-${String(Date.UTC(new Date().getUTCFullYear(), 0, 1, 3))}`;
    await until('the report', async () => (await world.completions()).get(id));
    assert.deepEqual([...(await world.completions()).keys()], [id]);
  });
});
