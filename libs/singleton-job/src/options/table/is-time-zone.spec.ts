import { describe, expect, it } from '@jest/globals';
import { isTimeZone } from './is-time-zone.js';

describe('A time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'europe/berlin', 'Asia/Calcutta', 'Etc/GMT-8', 'EST5EDT'])('is %s', (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  it.each(['', ' ', 'Mars/Phobos', '+05:30', '-08:00', 'Europe/Berlin ', undefined, null, 8])('is not %j', (value) => {
    expect(isTimeZone(value)).toBe(false);
  });
});
