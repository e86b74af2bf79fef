import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from './support/processes.js';
import { World } from './support/world.js';

const DAY_MS = 86_400_000;
const YEARLY = '0 3 1 1 *';

/** The job that enqueues, and what its occurrences are. */
const SCHEDULES = [
  { of: 'the daily report', job: 'daily-report', type: 'report', env: { DAILY_CRON: '*/4 * * * * *' } },
  {
    of: 'a handler',
    job: 'enqueue-scheduled',
    type: 'scheduled',
    env: { DAILY_CRON: YEARLY, SCHEDULE: '*/4 * * * * *' },
  },
] as const;
const TICK_MS = 4_000;

describe('the schedule', { concurrency: true }, () => {
  for (const { of, job, type, env } of SCHEDULES) {
    it(`of ${of} enqueues each occurrence once, although a scheduler was killed after it had claimed one`, async () => {
      await using world = await World.start({ ...env, LOCK_EXPIRY_MS: 1_000 });
      await world.program('worker');
      const dying = await world.program('web', { DIE_AT: `tick of ${job}` });
      const survivor = await world.program('web');
      const ticks = (output: string) =>
        [...output.matchAll(new RegExp(`tick of ${job} (\\d+)`, 'g'))].map(([, at]) => Number(at));
      const times = async (at: number) => (await world.completions()).get(`${type}-${String(at)}`);
      assert.equal(await dying.replica.exited, 'SIGKILL');
      const [claimed = NaN] = ticks(dying.replica.output());

      // reported, and not run by the survivor: a claim counts as a start
      const missed = new RegExp(`^singleton_job_occurrences_missed_total\\{(?=.*"${job}")(?=.*start-not-confirmed)`);
      await until('the report of the miss', async () => (await survivor.metric(missed)) === 1);
      await until('the next tick', () => ticks(survivor.replica.output()).length > 0);
      await until('the job', () => times(claimed));

      // every tick enqueues two occurrences: none is lost, none is doubled
      const last = claimed + 3 * TICK_MS;
      await until('three more', () => times(last));
      for (let at = claimed; at <= last; at += TICK_MS) assert.equal(await times(at), 1, String(at));
      assert.ok(!ticks(survivor.replica.output()).includes(claimed));
    });
  }

  it('is seeded once after a fresh deployment of several replicas, by the clock of Redis', async () => {
    await using world = await World.start({ DAILY_CRON: YEARLY, SCHEDULE: YEARLY, SCHEDULE_PERIOD_MS: 365 * DAY_MS });
    const isAhead = { CLOCK_AHEAD_MS: 366 * DAY_MS };
    await Promise.all([world.program('web', isAhead), world.program('web', isAhead), world.program('worker')]);
    const newest = String(Date.UTC(new Date().getUTCFullYear(), 0, 1, 3));
    const seeded = async () =>
      [...(await world.completions()).keys()].filter((id) => !id.startsWith('clean-up')).sort();
    await until('the jobs', async () => (await seeded()).length >= 2);
    assert.deepEqual(await seeded(), [`report-${newest}`, `scheduled-${newest}`]);
    // for two periods: an id that BullMQ has removed would be added again
    const options = await world.redis.client.hget(`reports:durable-jobs:report-${newest}`, 'opts');
    assert.deepEqual(JSON.parse(options ?? '{}').removeOnComplete, { age: (2 * 365 * DAY_MS) / 1_000 });
  });
});
