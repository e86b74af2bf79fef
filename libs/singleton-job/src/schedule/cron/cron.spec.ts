import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { cron } from './cron.js';
import { type CronSchedule } from '../schedule.js';

const NEW_YEAR = Date.UTC(2027, 0, 1);

/** The next occurrences after an instant, without the seconds that are zero anyway. */
function upcoming(schedule: CronSchedule, count: number, after: string | number = NEW_YEAR): string[] {
  const found: string[] = [];
  let at: number | undefined = new Date(after).getTime();
  while (found.length < count) {
    at = schedule.next(at);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().replace(/(:00)?\.000Z$/, 'Z'));
  }
  return found;
}

describe('a cron expression', () => {
  it('is in UTC when no zone is given', () => {
    expect(upcoming(cron('0 3 * * *'), 1)).toEqual(['2027-01-01T03:00Z']);
    expect(cron('0 3 * * *').timeZone).toBe('UTC');
  });

  it('is in the local time of its zone', () => {
    expect(upcoming(cron('0 3 * * *', { timeZone: 'Asia/Singapore' }), 2)).toEqual([
      '2027-01-01T19:00Z',
      '2027-01-02T19:00Z',
    ]);
  });

  it('has minutes first if it has five fields and seconds first if it has six', () => {
    expect(upcoming(cron('5 1 * * *'), 1)).toEqual(['2027-01-01T01:05Z']);
    expect(upcoming(cron('30 5 1 * * *'), 1)).toEqual(['2027-01-01T01:05:30Z']);
    expect(upcoming(cron('*/20 * * * * *'), 3)).toEqual([
      '2027-01-01T00:00:20Z',
      '2027-01-01T00:00:40Z',
      '2027-01-01T00:01Z',
    ]);
  });

  it('takes lists, ranges and steps', () => {
    expect(upcoming(cron('0,30 9-10 * * *'), 4)).toEqual([
      '2027-01-01T09:00Z',
      '2027-01-01T09:30Z',
      '2027-01-01T10:00Z',
      '2027-01-01T10:30Z',
    ]);
    expect(upcoming(cron('10/25 */12 * * *'), 3)).toEqual([
      '2027-01-01T00:10Z',
      '2027-01-01T00:35Z',
      '2027-01-01T12:10Z',
    ]);
  });

  it('takes the names of months and days, in any case', () => {
    expect(upcoming(cron('0 0 * JUN-aug Mon'), 1)).toEqual(['2027-06-07T00:00Z']);
    expect(upcoming(cron('0 0 1 jan,DEC *'), 2)).toEqual(['2027-12-01T00:00Z', '2028-01-01T00:00Z']);
  });

  it('counts Sunday as 0 and as 7', () => {
    expect(upcoming(cron('0 0 * * 7'), 3)).toEqual(upcoming(cron('0 0 * * SUN'), 3));
    expect(upcoming(cron('0 0 * * 6-7'), 3)).toEqual(['2027-01-02T00:00Z', '2027-01-03T00:00Z', '2027-01-09T00:00Z']);
  });

  it('matches either of day of month and weekday when both are restricted', () => {
    expect(upcoming(cron('0 0 13 * FRI'), 4)).toEqual([
      '2027-01-08T00:00Z',
      '2027-01-13T00:00Z',
      '2027-01-15T00:00Z',
      '2027-01-22T00:00Z',
    ]);
  });

  it('has to match by both when day of month or weekday begins with *', () => {
    expect(upcoming(cron('0 0 */2 * 1'), 4)).toEqual([
      '2027-01-11T00:00Z',
      '2027-01-25T00:00Z',
      '2027-02-01T00:00Z',
      '2027-02-15T00:00Z',
    ]);
    // Sunday to Saturday by ones: any weekday
    expect(upcoming(cron('0 0 13 * */1'), 2)).toEqual(['2027-01-13T00:00Z', '2027-02-13T00:00Z']);
    expect(upcoming(cron('0 0 13 * */5'), 2)).toEqual(['2027-06-13T00:00Z', '2027-08-13T00:00Z']);
  });

  it('takes ? for a day that is not restricted', () => {
    expect(upcoming(cron('0 0 13 * ?'), 2)).toEqual(['2027-01-13T00:00Z', '2027-02-13T00:00Z']);
    expect(upcoming(cron('0 0 ? * FRI'), 2)).toEqual(['2027-01-08T00:00Z', '2027-01-15T00:00Z']);
  });

  it('takes L for the last day of the month, also beside others', () => {
    expect(upcoming(cron('0 0 L * *'), 3)).toEqual(['2027-01-31T00:00Z', '2027-02-28T00:00Z', '2027-03-31T00:00Z']);
    expect(upcoming(cron('0 0 15,L * *', {}), 3, '2028-02-01')).toEqual([
      '2028-02-15T00:00Z',
      '2028-02-29T00:00Z',
      '2028-03-15T00:00Z',
    ]);
  });

  it('takes 5L for the last Friday of the month and FRI#2 for the second', () => {
    expect(upcoming(cron('0 0 * * 5L'), 3)).toEqual(['2027-01-29T00:00Z', '2027-02-26T00:00Z', '2027-03-26T00:00Z']);
    expect(upcoming(cron('0 0 * * FRI#2'), 3)).toEqual(['2027-01-08T00:00Z', '2027-02-12T00:00Z', '2027-03-12T00:00Z']);
    expect(upcoming(cron('0 0 * * 7#5'), 2)).toEqual(['2027-01-31T00:00Z', '2027-05-30T00:00Z']);
  });

  it('leaves out the months that do not have the day', () => {
    expect(upcoming(cron('0 0 31 * *'), 3)).toEqual(['2027-01-31T00:00Z', '2027-03-31T00:00Z', '2027-05-31T00:00Z']);
  });

  it('waits for the leap day, for eight years around 2100', () => {
    expect(upcoming(cron('0 0 29 2 *'), 2)).toEqual(['2028-02-29T00:00Z', '2032-02-29T00:00Z']);
    expect(upcoming(cron('0 0 29 2 *'), 1, '2096-03-01')).toEqual(['2104-02-29T00:00Z']);
  });

  it('waits decades for a fifth Monday in February', () => {
    expect(upcoming(cron('0 0 * 2 MON#5'), 1, '2088-03-01')).toEqual(['2112-02-29T00:00Z']);
  });

  it('waits longer than the longest timer', () => {
    const next = cron('0 0 1 1 *', { timeZone: 'America/New_York' }).next(Date.UTC(2027, 0, 1, 5)) ?? 0;
    expect(new Date(next).toISOString()).toBe('2028-01-01T05:00:00.000Z');
    expect(next - NEW_YEAR).toBeGreaterThan(2 ** 31);
  });

  it.each([
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['@monthly', '0 0 1 * *'],
    ['@weekly', '0 0 * * 0'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@hourly', '0 * * * *'],
    ['@minutely', '* * * * *'],
    ['@secondly', '* * * * * *'],
    ['@weekdays', '0 0 * * 1-5'],
    ['@weekends', '0 0 * * 0,6'],
  ])('takes %s for %s', (alias, expression) => {
    expect(cron(alias).description).toBe(`cron ${expression} UTC`);
  });

  it('describes itself in one line, with single spaces and the usual case of the zone', () => {
    expect(cron('  0  3\t* * MON ', { timeZone: 'asia/singapore' }).description).toBe(
      'cron 0 3 * * MON Asia/Singapore',
    );
  });
});

describe('the occurrences of a cron expression', () => {
  const schedules = fc
    .record({
      expression: fc.constantFrom(
        '* * * * * *',
        '*/7 * * * *',
        '30 2 * * *',
        '0 1-3 * * *',
        '0 0 L * *',
        '0 0 29 2 *',
        '0 12 * * 1#3',
      ),
      timeZone: fc.constantFrom(
        'UTC',
        'America/New_York',
        'Australia/Lord_Howe',
        'Asia/Kathmandu',
        'Africa/Casablanca',
      ),
    })
    .map(({ expression, timeZone }) => cron(expression, { timeZone }));
  const instants = fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2090, 0) });

  it('have a next one after any instant, which is the latest one at its own instant', () => {
    fc.assert(
      fc.property(schedules, instants, (schedule, at) => {
        const next = schedule.next(at) ?? 0;
        expect(next).toBeGreaterThan(at);
        expect(schedule.latest(next)).toBe(next);
        expect(schedule.latest(next - 1)).toBeLessThanOrEqual(at);
      }),
    );
  });

  it('have a latest one, also long ago, with none between it and now', () => {
    fc.assert(
      fc.property(schedules, instants, (schedule, now) => {
        const latest = schedule.latest(now) ?? NaN;
        expect(latest).toBeLessThanOrEqual(now);
        expect(schedule.latest(latest)).toBe(latest);
        expect(schedule.next(latest) ?? 0).toBeGreaterThan(now);
      }),
    );
  });
});
