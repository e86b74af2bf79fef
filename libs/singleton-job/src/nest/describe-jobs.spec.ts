import { expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { cron } from '../schedule/cron/cron.js';
import { oddJobs } from './describe-jobs.js';

it.each([
  ['0 14 */14 * 3', 'runs next on 2027-09-01T14:00:00.000Z. If that is too late, check its days'],
  ['* 43 * * * *', 'runs every second while 43 matches. If once is meant, write 0 for each * before it'],
  ['* */2 * * *', 'runs every minute while */2 matches. If once is meant, write 0 for each * before it'],
  ['*/59 * * * *', 'begins */59 again at 0, so its last step is shorter. For even ones use @FixedRate'],
  ['0 */5 * * *', 'begins */5 again at 0, so its last step is shorter. For even ones use @FixedRate'],
])('a cron job that runs at %s has a line that says what may surprise', (expression, odd) => {
  const jobs = [job({ name: 'report', schedule: cron(expression) })];
  expect(oddJobs(jobs, Date.UTC(2026, 7, 1))).toEqual([`report (${expression} UTC) ${odd}`]);
});

it.each(['0 3 1 1 *', '0 3 * * *', '*/15 * * * * *', '* 9-17 * * 1-5', '0 */6 * * *'])(
  'a cron job that runs at %s has none',
  (expression) => {
    expect(oddJobs([job({ schedule: cron(expression) })], Date.UTC(2026, 7, 1))).toEqual([]);
  },
);
