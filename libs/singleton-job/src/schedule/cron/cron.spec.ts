import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { type CronSchedule } from '../schedule.js';
import { cron, cronDescribedBy } from './cron.js';

/** The next occurrences after an instant, without what is 2027 or midnight. */
function upcoming(schedule: CronSchedule, count: number, after: string): string {
  const found: string[] = [];
  let at: number | undefined = Date.parse(after);
  while (found.length < count && at !== undefined) {
    at = schedule.next(at);
    if (at !== undefined) found.push(new Date(at).toISOString().replace(/^2027-|(T00:00)?(:00)?\.000Z$/g, ''));
  }
  return found.join(' ');
}

describe('a cron expression', () => {
  it.each<[rule: string, expression: string, expected: string, after?: string, timeZone?: string]>([
    ['is in the local time of its zone', '0 3 * * *', '01-01T19:00 01-02T19:00', '2027-01-01', 'Asia/Singapore'],
    ['follows the clocks until then', '*/30 3 1 7 *', '07-01T07:00 07-01T07:30', '2027-01-01', 'America/New_York'],
    ['has minutes first if it has five fields', '5 1 * * *', '01-01T01:05'],
    ['matches either of day and weekday when both are restricted', '0 0 13 * FRI', '01-08 01-13 01-15 01-22'],
    ['has to match by both when the day begins with *', '0 0 */2 * 1', '01-11 01-25 02-01 02-15'],
    ['has to match by both when the weekday begins with *', '0 0 13 * */5', '06-13 08-13'],
    ['takes L for the last day of the month, also beside others', '0 0 15,L * *', '01-15 01-31 02-15 02-28'],
    ['takes 5L for the last Friday of the month', '0 0 * * 5L', '01-29 02-26 03-26'],
    ['takes FRI#2 for the second Friday', '0 0 * * FRI#2', '01-08 02-12 03-12'],
    ['leaves out the months that do not have the weekday', '0 0 * * 7#5', '01-31 05-30'],
    ['leaves out the months that do not have the day', '0 0 31 * *', '01-31 03-31 05-31'],
    ['waits for the leap day', '0 0 29 2 *', '2028-02-29 2032-02-29'],
    ['waits for eight years around 2100', '0 0 29 2 *', '2104-02-29', '2096-03-01'],
    ['waits decades for a fifth Monday in February', '0 0 * 2 MON#5', '2112-02-29', '2088-03-01'],
  ])('%s: %s', (_rule, expression, expected, after = '2027-01-01', timeZone = 'UTC') => {
    expect(upcoming(cron(expression, timeZone), expected.split(' ').length, after)).toBe(expected);
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
    expect(cron('  0  3\t* * MON ', 'asia/singapore').description).toBe('cron 0 3 * * MON Asia/Singapore');
  });

  it('is read back from a description, but for one with a jitter, of another kind or another version', () => {
    const { description } = cron('0 3 * * MON', 'Asia/Singapore');
    expect(cronDescribedBy(description)?.description).toBe(description);
    for (const other of [`${description} jitter 5000ms`, 'interval 5000ms', 'cron 1 2 UTC', ''])
      expect(cronDescribedBy(other)).toBeUndefined();
  });
});

describe('the occurrences of a cron expression', () => {
  const schedules = fc
    .tuple(
      fc.constantFrom('* * * * * *', '*/7 * * * *', '30 2 * * *', '0 1-3 * * *', '0 0 L * *', '0 0 29 2 *'),
      fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Africa/Casablanca'),
    )
    .map(([expression, timeZone]) => cron(expression, timeZone));
  const instants = fc.integer({ min: Date.UTC(1971, 0), max: Date.UTC(2090, 0) });

  it('have a latest and a next one at any instant, also long ago, with none between them', () => {
    fc.assert(
      fc.property(schedules, instants, (schedule, now) => {
        const [latest = NaN, next = NaN] = [schedule.latest(now), schedule.next(now)];
        expect([latest <= now, next > now]).toEqual([true, true]);
        expect([schedule.next(latest), schedule.next(latest - 1)]).toEqual([next, latest]);
        expect([schedule.latest(next - 1), schedule.latest(next)]).toEqual([latest, next]);
      }),
    );
  });
});
