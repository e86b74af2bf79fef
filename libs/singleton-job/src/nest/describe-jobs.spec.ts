import { expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { rareJobs } from './describe-jobs.js';

it('a cron job that does not run for half a year has a line that says when it does', () => {
  const schedules = [cron('0 14 */14 * 3'), cron('0 3 1 1 *'), cron('0 3 * * *'), fixedRate(1_000)];
  const jobs = schedules.map((schedule, index) => job({ name: `job-${index}`, schedule }));
  expect(rareJobs(jobs, Date.UTC(2026, 7, 1))).toEqual([
    'job-0 (0 14 */14 * 3 UTC) runs next on 2027-09-01T14:00:00.000Z. If that is too late, check its days',
  ]);
});
