import { describe, expect, it } from '@jest/globals';
import { type Predecessor } from '../leadership/record-view.js';
import { type LeaderFields, type RunRecord } from '../leadership/record.js';
import { cron } from '../schedule/cron/cron.js';
import { fixedRate } from '../schedule/fixed-rate.js';
import { interval } from '../schedule/interval.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { whileLeader } from '../schedule/without-ticks.js';
import { changeOf, crashesBefore, inherit, isClaimed } from './inheritance.js';

const NOW = 1_000_000;
const DAY = 86_400_000;
const NIGHTLY = cron('0 3 * * *');
const GRID = fixedRate(1_000);
const [SHORT, LONG] = [interval(10_000), interval(10_001)];

/** Left by a leader that released the record, with this schedule. */
const predecessor = (schedule: AnySchedule, over: Partial<Predecessor> = {}): Predecessor => ({
  reason: 'released',
  leader: 'b',
  record: { schedule: schedule.description },
  fields: {},
  lostLeader: undefined,
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
    ['had other times', cron('0 4 * * *'), 'times'],
    ['had another time zone', cron('0 3 * * *', 'Asia/Tokyo'), 'times'],
    ['was of another kind', GRID, 'kind'],
  ])('%s', (_, before, change) => {
    expect(changeOf(NIGHTLY, predecessor(before))).toBe(change);
  });

  it('is not known in a new record', () => {
    expect(changeOf(NIGHTLY, predecessor(GRID, { record: undefined }))).toBe('none');
  });
});

describe('A new leader', () => {
  const FOUR = cron('0 4 * * *');
  const slot = (lastScheduledAt: number): LeaderFields => ({ lastScheduledAt });
  const run = (fields: RunRecord = ENDED, more: Partial<RunRecord> = {}): LeaderFields => ({
    run: { ...fields, ...more },
  });
  const runOf = (occurrence: number | undefined) => run(ENDED, { occurrence });
  const endedAt = (at: number) => run(ENDED, { endedAt: at });
  const UNKNOWN: RunRecord = { by: 'b', startedAt: NOW, endedAt: NOW };
  const interrupted = { endedAt: NOW, outcome: 'interrupted' } as const;
  const of = (schedule: AnySchedule, left: LeaderFields, over?: Partial<Predecessor>) =>
    predecessor(schedule, { fields: left, ...over });
  const ofDead = (schedule: AnySchedule, left: LeaderFields) => of(schedule, left, { lostLeader: 'b' });

  it.each<[string, AnySchedule, Predecessor, LeaderFields]>([
    ['begins a new cron job now', NIGHTLY, of(NIGHTLY, {}, { record: undefined }), slot(NOW)],
    ['goes on after the last occurrence that was claimed or reported', NIGHTLY, of(NIGHTLY, slot(5)), slot(5)],
    ['believes a claim that is up to a day ahead', NIGHTLY, of(NIGHTLY, slot(NOW + DAY)), slot(NOW + DAY)],
    ['begins anew where a claim is further ahead', NIGHTLY, of(NIGHTLY, slot(NOW + DAY + 1)), slot(NOW)],
    [
      'also where only the run says so',
      NIGHTLY,
      of(NIGHTLY, runOf(NOW + DAY + 1)),
      { ...slot(NOW), ...runOf(undefined) },
    ],
    ['begins after claims that may be lost', NIGHTLY, of(NIGHTLY, slot(5), { claimsLostUntil: 900 }), slot(900)],
    ['begins a cron job with other times now', NIGHTLY, of(FOUR, slot(5)), slot(NOW)],
    ['begins a cron job of another kind now, also after slots ahead', NIGHTLY, of(GRID, slot(NOW + 5)), slot(NOW)],
    [
      'begins a cron job of another kind after the last occurrence, if that is ahead of the store',
      NIGHTLY,
      of(GRID, runOf(NOW + 5)),
      { ...slot(NOW + 5), ...runOf(NOW + 5) },
    ],
    ['goes on after the newest slot of a fixed rate', GRID, of(GRID, slot(5)), slot(5)],
    ['knows no slot after another kind', GRID, of(NIGHTLY, slot(5)), {}],
    ['keeps the run that has ended', LONG, ofDead(LONG, run()), run()],
    ['ends a run that has no end', LONG, of(LONG, run(OPEN)), run(OPEN, interrupted)],
    ['takes an end that is ahead for now', LONG, of(LONG, endedAt(NOW + 1)), endedAt(NOW)],
    ['takes the end of a short interval for now', SHORT, ofDead(SHORT, run()), endedAt(NOW)],
    ['does so where no run is known', SHORT, ofDead(SHORT, {}), run(UNKNOWN)],
    ['counts a run of another schedule as ended now', LONG, ofDead(GRID, {}), run(UNKNOWN)],
    ['but not after a release', SHORT, of(SHORT, run()), run()],
  ])('%s', (_, schedule, given, fields) => {
    expect(inherit(schedule, given)).toEqual({ schedule: schedule.description, ...fields });
  });
});

describe('Crashes in a row before a call of @WhileLeader', () => {
  const after = (run: RunRecord | undefined, over: Partial<Predecessor> = { lostLeader: 'b' }) =>
    crashesBefore(predecessor(GRID, { record: { holder: 'b.1@10000#1', run }, ...over }));

  it.each([
    ['none, after a release', after({ ...OPEN, crashes: 2 }, {}), 0],
    ['one more than before, in a run', after({ ...OPEN, crashes: 2 }), 3],
    ['one, of a leader that may have run', after(undefined), 1],
    ['one, after a run that had ended', after({ ...ENDED, crashes: 2 }), 1],
    ['one, after the run of an earlier leader', after({ ...OPEN, by: 'c', crashes: 2 }), 1],
    ['one more, in a run that lasted less than 30 s', after({ ...OPEN, startedAt: NOW - 39_999, crashes: 2 }), 3],
    ['one, in a run that lasted 30 s before that', after({ ...OPEN, startedAt: NOW - 40_000, crashes: 2 }), 1],
  ])('are %s', (_, crashes, expected) => {
    expect(crashes).toBe(expected);
  });
});
