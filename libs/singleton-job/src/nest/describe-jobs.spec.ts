import { expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { cron } from '../schedule/cron/cron.js';
import { jittered } from '../schedule/jitter.js';
import { oddJobs } from './describe-jobs.js';

it.each([
  ['0 14 */14 * 3', 'runs next on 2027-09-01T14:00:00.000Z. If that is too late, check its days'],
  ['* 3 * * *', 'runs every minute while 3 matches. If once is meant, write 0 for each * before it'],
])('a cron job that runs at %s has a line that says what may surprise, also with a jitter', (expression, odd) => {
  const schedule = cron(expression);
  const jobs = [schedule, jittered(schedule, 1, 'report')].map((one) => job({ name: 'report', schedule: one }));
  const lines = [`report (${expression} UTC) ${odd}`, `report (${expression} UTC jitter 1ms) ${odd}`];
  expect(oddJobs(jobs, Date.UTC(2026, 7, 1))).toEqual(lines);
});

it.each(['0 3 1 1 *', '0 3 * 1 *'])('a cron job that runs at %s has none, also with a jitter', (expression) => {
  const schedule = cron(expression);
  const jobs = [job({ schedule }), job({ schedule: jittered(schedule, 5_000, 'report') })];
  expect(oddJobs(jobs, Date.UTC(2026, 7, 1))).toEqual([]);
});
