import { expect, it } from '@jest/globals';
import { NIGHTLY } from './nightly.js';
import { nextTimes } from 'nestjs-singleton-job';

it.each(['2027-03-27T12:00:00Z', '2027-10-30T12:00:00Z'])('the report is due at 03:00 in Berlin after %s', (from) => {
  const times = nextTimes(NIGHTLY, { count: 2, from: new Date(from) });
  const inBerlin = times.map((time) => time.toLocaleTimeString('de-DE', { timeZone: 'Europe/Berlin' }));
  expect(inBerlin).toEqual(['03:00:00', '03:00:00']);
});
