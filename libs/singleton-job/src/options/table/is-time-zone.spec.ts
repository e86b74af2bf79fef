import { describe, expect, it } from '@jest/globals';
import { isTimeZone } from './is-time-zone.js';

describe('A time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'europe/berlin', 'Asia/Calcutta', 'Etc/GMT-8', 'EST5EDT', 'CET'])(
    'is %s',
    (name) => {
      expect(isTimeZone(name)).toBe(true);
    },
  );

  it.each(['', ' ', 'Mars/Phobos', 'Europe/Berlin ', 'BST', 'est', 'GMT+2', '-08:00', '+05:30', undefined, null, 8])(
    'is not %j',
    (value) => {
      expect(isTimeZone(value)).toBe(false);
    },
  );
});
