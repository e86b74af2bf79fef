import { describe, expect, it } from '@jest/globals';
import { isTimeZone, timeZoneFix } from './is-time-zone.js';

describe('A time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'europe/berlin', 'Asia/Calcutta', 'Etc/GMT-8', 'EST5EDT', 'CET'])(
    'is %s',
    (name) => {
      expect(isTimeZone(name)).toBe(true);
    },
  );

  it.each(['', ' ', 'Mars/Phobos', 'Europe/Berlin ', undefined, null, 8])('is not %j', (value) => {
    expect(isTimeZone(value)).toBe(false);
  });

  it.each([
    ['BST', 'have several meanings or no summer time'],
    ['est', 'have several meanings or no summer time'],
    ['GMT+2', "or write 'Etc/GMT-2'"],
    ['-08:00', "or write 'Etc/GMT+8'"],
    ['+05:30', "name a place, as in 'Europe/Berlin'"],
    ['Europe/Berln', "did you mean 'Europe/Berlin'?"],
  ])('is not %j, with a fix', (value, fix) => {
    expect([isTimeZone(value), timeZoneFix(value)]).toEqual([false, expect.stringContaining(fix)]);
  });
});
