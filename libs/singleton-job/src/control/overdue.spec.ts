import { describe, expect, it } from '@jest/globals';
import { job } from '../../../../test/support/job.js';
import { type Job } from '../jobs/job.js';
import { type RunRecord } from '../leadership/record.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { whileLeader } from '../schedule/without-ticks.js';
import { overdueSince } from './overdue.js';

const HOUR = 3_600_000;
const AT = Date.parse('2027-01-01T03:00:00Z');
const DAILY = cron('0 3 * * *');
const ended = (endedAt: number): RunRecord => ({ startedAt: endedAt - 1, endedAt, by: 'a' });

describe('A leader', () => {
  const NOW = AT + 25 * HOUR;
  /** It leads since right before an occurrence, and 25 hours later nothing has run. */
  const overdue = (over: {
    readonly lastScheduledAt?: number;
    readonly run?: RunRecord;
    readonly storeNow?: number;
    readonly takenAt?: number;
    readonly job?: Partial<Job>;
    readonly startedAt?: number;
    readonly pause?: object;
    readonly isFollower?: boolean;
    readonly givesBack?: boolean;
  }) => {
    const { storeNow = NOW, takenAt = AT - 1_000, startedAt, pause, isFollower, givesBack, ...own } = over;
    const term = isFollower === true ? undefined : { storeNow: () => storeNow, fields: own, predecessor: { takenAt } };
    const startOfRun = new Date(startedAt ?? 0);
    const inFlight = startedAt === undefined ? undefined : { scheduledAt: startOfRun, startedAt: startOfRun };
    const running = {
      job: job({ schedule: DAILY, ...over.job }),
      election: { term, activeTerm: givesBack === true ? undefined : term, pause },
      runs: { inFlight },
    };
    return overdueSince(running as unknown as Parameters<typeof overdueSince>[0], NOW);
  };
  const short = { schedule: interval(1_000) };
  const limited = { ...short, timeoutMs: 3_000 };

  it.each<[string, Parameters<typeof overdue>[0], number | undefined]>([
    ['late for an occurrence that did not run', {}, AT],
    ['not late for one that was handled', { lastScheduledAt: AT + 24 * HOUR }, undefined],
    ['not late for one from before it led', { takenAt: AT + 24 * HOUR }, undefined],
    ['not late for one that came due in a run', { run: ended(AT + 24 * HOUR) }, undefined],
    ['not late by a clock that was set forward', { storeNow: AT - 500 }, undefined],
    ['not late as a follower', { isFollower: true }, undefined],
    ['not late while the job is paused', { pause: { at: AT } }, undefined],
    ['late 20 s after an interval is due, from when it leads', { job: short, takenAt: NOW - 20_001 }, NOW - 20_001],
    ['not late before that', { job: short, takenAt: NOW - 20_000 }, undefined],
    ['late one delay after the last run, too', { job: short, run: ended(NOW - 21_001) }, NOW - 20_001],
    ['not late before that, either', { job: short, run: ended(NOW - 21_000) }, undefined],
    ['late if a run goes on after the next tick', { startedAt: AT }, AT + 24 * HOUR],
    ['late also if it releases the job after that run', { startedAt: AT, givesBack: true }, AT + 24 * HOUR],
    ['not late as @WhileLeader', { job: { schedule: whileLeader(1_000) }, startedAt: AT }, undefined],
    ['not late if an interval runs for long', { job: short, startedAt: AT }, undefined],
    [
      'late if it runs for longer than its delay, its timeout and a lockExpiry',
      { job: limited, startedAt: NOW - 14_001 },
      NOW - 13_001,
    ],
    ['not late before that', { job: limited, startedAt: NOW - 14_000 }, undefined],
  ])('is %s', (_, over, due) => {
    expect(overdue(over)).toBe(due);
  });
});
