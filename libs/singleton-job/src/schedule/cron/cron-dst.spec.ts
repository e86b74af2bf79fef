import { describe, expect, it } from '@jest/globals';

import { cron } from './cron.js';

describe('the local times of a cron job', () => {
  const spring = ['America/New_York', '2027-03-14T06:00Z', '2027-03-14T09:00Z'] as const;
  const autumn = ['America/New_York', '2027-11-07T04:45Z', '2027-11-07T07:15Z'] as const;
  const springByHalfAnHour = ['Australia/Lord_Howe', '2027-10-02T14:30Z', '2027-10-02T16:30Z'] as const;
  const autumnByHalfAnHour = ['Australia/Lord_Howe', '2027-04-03T14:15Z', '2027-04-03T15:45Z'] as const;
  const leftOut = ['Pacific/Apia', '2011-12-30T00:00Z', '2011-12-31T12:00Z'] as const;

  it.each([
    ['that are skipped come at the first instant after the gap', '30 2 * * *', spring, '03:00 -04:00'],
    ['come once for several in one gap', '15,30,45 2 * * *', spring, '03:00 -04:00'],
    ['come once for one in a gap and one at its end', '0 2,3 * * *', spring, '03:00 -04:00'],
    ['come once for all seconds of one in a gap', '0-59 30 2 * * *', spring, '03:00 -04:00'],
    ['that are skipped are left out if it follows elapsed time', '*/30 2 * * *', spring, ''],
    ['that are skipped may be half an hour', '0 2 * * *', springByHalfAnHour, '02:30 +11:00'],
    ['that are repeated come in the first pass', '0,30 1 * * *', autumn, '01:00 -04:00, 01:30 -04:00'],
    ['that are repeated come twice by elapsed time', '0 * * * *', autumn, '01:00 -04:00, 01:00 -05:00, 02:00 -05:00'],
    ['at the end of what is repeated come after both passes', '0 2 * * *', autumn, '02:00 -05:00'],
    ['that are repeated may be half an hour', '45 1 * * *', autumnByHalfAnHour, '01:45 +11:00'],
    ['on a day that a zone leaves out come when the next begins', '0 6 * * *', leftOut, '00:00 +14:00, 06:00 +14:00'],
  ] as const)('%s: %s', (_rule, expression, [timeZone, from, to], expected) => {
    const schedule = cron(expression, timeZone);
    const parts = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' } as const;
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, ...parts });
    const [begin, end] = [from, to].map((at) => Date.parse(at)) as [number, number];
    const found: number[] = [];
    for (let at = schedule.next(begin - 1); at !== undefined && at <= end; at = schedule.next(at)) found.push(at);
    expect(found.map((at) => format.format(at).replace(':00 GMT', ' ')).join(', ')).toBe(expected);
    // from any instant on
    for (let at = begin - 1; at < end; at += 60_000)
      expect(schedule.next(at)).toBe(found.find((due) => due > at) ?? schedule.next(end));
  });
});
