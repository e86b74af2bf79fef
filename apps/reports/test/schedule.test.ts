import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from './support/processes.js';
import { World } from './support/world.js';

const TICK_MS = 3_000;
const EVERY_TICK = '*/3 * * * * *';
const YEARLY = '0 3 1 1 *';
/** Longer than an outage in a test: the leader stays the leader. */
const LOCK_EXPIRY_MS = 60_000;

describe('the daily report', { concurrency: true }, () => {
  it('comes once for each fire time, although a leader was killed after its claim, and ended jobs were removed', async () => {
    // completed jobs are kept for 0.6 s: as with a weekly schedule and the defaults
    await using world = await World.start({
      DAILY_CRON: EVERY_TICK,
      LOCK_EXPIRY_MS: 1_000,
      RESULT_TTL_MS: 300,
      CATCH_UP: 'yes',
    });
    const worker = await world.program('worker');
    const dying = await world.program('web', { DIE_AT: 'tick' });
    const survivor = await world.program('web');
    const ticks = (output: string) =>
      [...output.matchAll(/(?:schedule|misfire) of the daily report at (\d+)/g)].map(([, at]) => Number(at));
    assert.equal(await dying.replica.exited, 'SIGKILL');
    const [claimed = NaN] = ticks(dying.replica.output());
    // reported, and not run by the survivor: a claim counts as a start
    const interrupted = /^singleton_job_runs_total\{(?=.*"daily-report")(?=.*interrupted)/;
    await until('the report of the interrupted run', async () => (await survivor.metric(interrupted)) === 1);
    await until('two more', async () => {
      // BullMQ removes jobs when another one ends
      await survivor.call('jobs', 'enqueue', 'echo', {});
      return ticks(survivor.replica.output()).length > 2;
    });
    await world.untilIdle();
    assert.ok(!ticks(survivor.replica.output()).includes(claimed));

    const times = [...(await world.completions())].filter(([id]) => id.startsWith('report-'));
    assert.ok(times.every(([, count]) => count === 1));
    // each report begins where the one before it ended: no fire time is lost, and a busy machine may skip some
    const spans = [...worker.replica.output().matchAll(/reads after nothing from (\d+) to (\d+)/g)];
    const ends = spans.map(([, , to]) => Number(to) + 1);
    assert.equal(spans.length, times.length);
    assert.ok(ends.every((end) => end % TICK_MS === 0) && (ends.at(-1) ?? 0) >= claimed, ends.join());
    assert.deepEqual(
      spans.map(([, from]) => Number(from)),
      [0, ...ends.slice(0, -1)],
    );
  });

  it('is added once after a deployment, by the clock of Redis, and never by a trigger', async () => {
    await using world = await World.start({ DAILY_CRON: YEARLY, CATCH_UP: 'yes' });
    const isAhead = { CLOCK_AHEAD_MS: 366 * 86_400_000 };
    const [web] = await Promise.all([world.program('web'), world.program('worker')]);
    const newest = `report-${String(Date.UTC(new Date().getUTCFullYear(), 0, 1, 3))}`;
    const reports = async () => [...(await world.completions()).keys()].filter((id) => id.startsWith('report-'));
    await until('the report', async () => (await reports()).length > 0);
    // a new leader, whose clock is fast
    const late = await world.program('web', isAhead);
    await web.replica.stop();
    await until('a trigger', () => late.replica.output().includes('trigger of the daily report'));
    await until('the clean-up', async () => (await world.redis.client.hlen('reports:fire-times')) === 2);
    assert.deepEqual(await reports(), [newest]);
    assert.equal(await world.redis.client.hget('reports:fire-times', 'daily-report'), newest.slice('report-'.length));
  });

  it('comes at the next look after an outage that began between its claim and its enqueuing', async () => {
    await using world = await World.start({ DAILY_CRON: '*/20 * * * * *', CATCH_UP: 'yes', LOCK_EXPIRY_MS });
    const { replica } = await world.program('web', { AWAIT_OUTAGE: world.redis.url });
    const find = () => /schedule of the daily report at (\d+)/.exec(replica.output())?.[1];
    const at = await until('the run', find);
    await world.redis.down();
    await until('its failure', () => replica.output().includes('daily-report] failed after'));
    await world.redis.up();
    await until('the report', async () => (await world.redis.client.hget('reports:fire-times', 'daily-report')) === at);
    assert.equal(replica.output().match(/schedule of the daily report/g)?.length, 1);
    assert.equal(replica.output().match(/became LEADER/g)?.length, 2);
  });

  it('comes at the next look after a fire time that was dropped during a triggered run', async () => {
    await using world = await World.start({ DAILY_CRON: '*/20 * * * * *', CATCH_UP: 'yes' });
    const { replica } = await world.program('web', { AWAIT_DROP: 'yes' });
    const at = await until('the drop', () => /dropped the daily report at (\d+)/.exec(replica.output())?.[1]);
    await until('the report', async () => (await world.redis.client.hget('reports:fire-times', 'daily-report')) === at);
  });

  it('comes after a trigger of a new leader that gets no messages', async () => {
    await using world = await World.start({ DAILY_CRON: YEARLY, CATCH_UP: 'yes', LOCK_EXPIRY_MS });
    await world.redis.client.acl('SETUSER', 'default', 'resetchannels');
    const { replica } = await world.program('web');
    await until('the report and the clean-up', async () => (await world.redis.client.hlen('reports:fire-times')) === 2);
    assert.equal(replica.output().match(/became LEADER/g)?.length, 2);
  });
});
