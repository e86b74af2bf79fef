import { describe, expect, it } from '@jest/globals';
import { nextTimes, type NextTimesSchedule } from './next-times.js';

const from = new Date('2027-01-01T00:00:00Z');
const timesOf = (schedule: NextTimesSchedule, count = 2) =>
  nextTimes(schedule, { count, from }).map((time) => time.toISOString().slice(5, 19));

describe('The next times', () => {
  it.each<[string, NextTimesSchedule, string[]]>([
    ['of a fixed rate are on its grid', { period: '10m', offset: '1m' }, ['01-01T00:01:00', '01-01T00:11:00']],
    ['of an interval follow one delay after the other', { delay: '90s' }, ['01-01T00:01:30', '01-01T00:03:00']],
    [
      'of cron are in its zone',
      { cron: '0 3 * * *', timeZone: 'Asia/Singapore' },
      ['01-01T19:00:00', '01-02T19:00:00'],
    ],
    ['of cron are in UTC without a zone', { cron: '@daily' }, ['01-02T00:00:00', '01-03T00:00:00']],
    ['of @WhileLeader do not exist', { whileLeader: true }, []],
  ])('%s', (_which, schedule, times) => {
    expect(timesOf(schedule)).toEqual(times);
  });

  it('have the jitter that the job has on every replica', () => {
    const jittered = { cron: '0 * * * *', jitter: '10m' } as const;
    const delays = (name: string) => timesOf({ ...jittered, name }, 24).map((time) => time.slice(8));
    expect(delays('a')).toEqual(delays('a'));
    expect(delays('a')).not.toEqual(delays('b'));
    expect(delays('a').every((time) => time < ':10:00')).toBe(true);
  });

  it('are three from now on, unless something else is asked for', () => {
    const times = nextTimes({ period: '1h' });
    expect(times).toHaveLength(3);
    expect((times[0] ?? from).getTime() - Date.now()).toBeLessThanOrEqual(3_600_000);
  });

  it('are not told of mistakes, which are reported all at once', () => {
    const wrong = { cron: '0 25 * * *', jitter: '1m' } as const;
    expect(() => nextTimes(wrong, { count: 0, from: new Date('never'), limit: 1 } as object)).toThrow(
      expect.objectContaining({
        problems: [
          'nextTimes(): limit is no option here: the options are count, from',
          'nextTimes(): count must be a whole number from 1 to 1000, got 0: write such a number',
          'nextTimes(): from must be a valid Date, got an instance of Date: look where it is made',
          'nextTimes(): name must stand beside jitter, got jitter alone: it is a part of each delay',
          expect.stringMatching(/^nextTimes\(\): .*25/),
        ],
      }),
    );
    expect(() => nextTimes({ delay: '1s' }, null as never)).toThrow(
      'nextTimes() cannot use this schedule:\n  - nextTimes(): options must be an object, got null: write { count: 3 }',
    );
    expect(() => nextTimes('0 3 * * *' as never)).toThrow(
      /nextTimes\(\): schedule must have one of period, delay, cron/,
    );
  });
});
