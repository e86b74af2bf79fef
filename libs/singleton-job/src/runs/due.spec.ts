import { describe, expect, it } from '@jest/globals';
import { type RunRecord } from '../leadership/record.js';
import { cron } from '../schedule/cron/cron.js';
import { interval } from '../schedule/interval.js';
import { type AnySchedule } from '../schedule/schedule.js';
import { whileLeader } from '../schedule/without-ticks.js';
import { nextDue } from './due.js';

const HOUR = 3_600_000;
const AT = Date.parse('2027-01-01T03:00:00Z');
const DAILY = cron('0 3 * * *');
const ended = (endedAt: number): RunRecord => ({ startedAt: endedAt - 1, endedAt, by: 'a' });

describe('The next tick', () => {
  it.each<[string, AnySchedule, RunRecord | undefined, number | undefined]>([
    ['of cron is its next occurrence', DAILY, undefined, AT + 24 * HOUR],
    ['of an interval is one delay after the last run', interval(HOUR), ended(AT - 1), AT - 1 + HOUR],
    ['of an interval whose delay has passed is now', interval(1_000), ended(AT - HOUR), AT],
    ['of an interval is one delay from now at most', interval(HOUR), ended(AT + HOUR), AT + HOUR],
    ['of an interval in a run is not known', interval(HOUR), { startedAt: AT, by: 'a' }, undefined],
    ['of @WhileLeader does not exist', whileLeader(1_000), ended(AT), undefined],
  ])('%s', (_, schedule, run, due) => {
    expect(nextDue(schedule, run, AT)).toBe(due);
  });
});
