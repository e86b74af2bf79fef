import { describe, expect, it } from '@jest/globals';
import { type Backlog } from '../leadership/past.js';
import { type OwnFields, type RunRecord } from '../leadership/record.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { whileLeader } from '../schedule/while-leader.js';
import { changeOf, crashesBefore, inherit, isClaimed } from './inheritance.js';

const NOW = 1_000_000;
const NIGHTLY = cron('0 3 * * *', { timeZone: 'UTC' });
const GRID = fixedRate(1_000, { offsetMs: 0 });
const [SHORT, LONG] = [interval(10_000), interval(10_001)];

/** Left by a leader that released the record, with this schedule. */
const backlog = (schedule: AnySchedule, over: Partial<Backlog> = {}): Backlog => ({
  because: 'released',
  after: 'b',
  record: { schedule: schedule.description },
  left: {},
  lastHolder: undefined,
  claimsLostUntil: 0,
  takenAt: NOW,
  ...over,
});
const OPEN: RunRecord = { startedAt: NOW - 9_000, by: 'b' };
const ENDED: RunRecord = { ...OPEN, endedAt: NOW - 5_000, outcome: 'failed' };

describe('Only a run of cron and of an interval of more than 10 s is claimed', () => {
  it.each([
    [NIGHTLY, true],
    [LONG, true],
    [SHORT, false],
    [GRID, false],
    [whileLeader(60_000), false],
  ])('%j', (schedule, claimed) => {
    expect(isClaimed(schedule)).toBe(claimed);
  });
});

describe('The schedule of the last leader', () => {
  it.each([
    ['is the same', NIGHTLY, 'none'],
    ['had other times', cron('0 4 * * *', { timeZone: 'UTC' }), 'times'],
    ['had another time zone', cron('0 3 * * *', { timeZone: 'Asia/Tokyo' }), 'times'],
    ['was of another kind', GRID, 'kind'],
  ])('%s', (_, before, change) => {
    expect(changeOf(NIGHTLY, backlog(before))).toBe(change);
  });

  it('is not known in a new record', () => {
    expect(changeOf(NIGHTLY, backlog(GRID, { record: undefined }))).toBe('none');
  });
});

describe('A new leader', () => {
  it.each<[string, AnySchedule, Backlog, OwnFields]>([
    ['begins a new cron job now', NIGHTLY, backlog(NIGHTLY, { record: undefined }), { lastScheduledAt: NOW }],
    [
      'goes on after the newest occurrence that was claimed or reported',
      NIGHTLY,
      backlog(NIGHTLY, { left: { lastScheduledAt: 5 } }),
      { lastScheduledAt: 5 },
    ],
    [
      'begins after the occurrences whose claims may be lost',
      NIGHTLY,
      backlog(NIGHTLY, { left: { lastScheduledAt: 5 }, claimsLostUntil: 900 }),
      { lastScheduledAt: 900 },
    ],
    [
      'begins a cron job with other times now',
      NIGHTLY,
      backlog(cron('0 4 * * *', { timeZone: 'UTC' }), { left: { lastScheduledAt: 5 } }),
      { lastScheduledAt: NOW },
    ],
    [
      'begins a cron job that was of another kind now, also after slots by a clock that was ahead',
      NIGHTLY,
      backlog(GRID, { left: { lastScheduledAt: NOW + 600_000 } }),
      { lastScheduledAt: NOW },
    ],
    [
      'goes on after the newest slot of a fixed rate',
      GRID,
      backlog(GRID, { left: { lastScheduledAt: 5_000 } }),
      { lastScheduledAt: 5_000 },
    ],
    ['knows no slot after another kind', GRID, backlog(NIGHTLY, { left: { lastScheduledAt: 5_000 } }), {}],
    ['keeps the run that has ended', LONG, backlog(LONG, { left: { run: ENDED }, lastHolder: 'b' }), { run: ENDED }],
    [
      'ends a run that has no end, so that it is reported once',
      LONG,
      backlog(LONG, { left: { run: OPEN } }),
      { run: { ...OPEN, endedAt: NOW, outcome: 'interrupted' } },
    ],
    [
      'takes an end ahead of the clock of the store for now',
      LONG,
      backlog(LONG, { left: { run: { ...ENDED, endedAt: NOW + 1 } } }),
      { run: { ...ENDED, endedAt: NOW } },
    ],
    [
      'takes the end of a short interval for now, if the last leader did not release',
      SHORT,
      backlog(SHORT, { left: { run: ENDED }, lastHolder: 'b' }),
      { run: { ...ENDED, endedAt: NOW } },
    ],
    [
      'does so also where no run is known',
      SHORT,
      backlog(SHORT, { lastHolder: 'b' }),
      { run: { by: 'b', startedAt: NOW, endedAt: NOW } },
    ],
    [
      'knows the end of a short interval that was released',
      SHORT,
      backlog(SHORT, { left: { run: ENDED } }),
      { run: ENDED },
    ],
  ])('%s', (_, schedule, given, fields) => {
    expect(inherit(schedule, given)).toEqual({ schedule: schedule.description, ...fields });
  });
});

describe('Crashes in a row before a call of @WhileLeader', () => {
  const after = (run: RunRecord | undefined, over: Partial<Backlog> = { lastHolder: 'b' }) =>
    crashesBefore(backlog(GRID, { record: { holder: 'b.1@10000#1', run }, ...over }));

  it.each([
    ['none, after a release', after({ ...OPEN, crashes: 2 }, {}), 0],
    ['one more than before, in a run', after({ ...OPEN, crashes: 2 }), 3],
    ['one, of a leader that may have run', after(undefined), 1],
    ['one, after a run that had ended', after({ ...ENDED, crashes: 2 }), 1],
    ['one, after the run of an earlier leader', after({ ...OPEN, by: 'c', crashes: 2 }), 1],
    ['one more, in a run that lasted less than 30 s', after({ ...OPEN, startedAt: NOW - 39_999, crashes: 2 }), 3],
    [
      'one, in a run that lasted 30 s before the lease ended',
      after({ ...OPEN, startedAt: NOW - 40_000, crashes: 2 }),
      1,
    ],
  ])('are %s', (_, crashes, expected) => {
    expect(crashes).toBe(expected);
  });
});
