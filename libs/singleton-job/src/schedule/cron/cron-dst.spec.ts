import { describe, expect, it } from '@jest/globals';

import { cron } from './cron.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The days of 2027 on which the clocks are set: the instant, and the local hours that are skipped or repeated. */
const SHIFTS: readonly (readonly [zone: string, instant: string, what: string])[] = [
  ['America/New_York', '2027-03-14T07:00Z', 'forward over 02:00-03:00'],
  ['America/New_York', '2027-11-07T06:00Z', 'back over 01:00-02:00'],
  ['Europe/London', '2027-03-28T01:00Z', 'forward over 01:00-02:00'],
  ['Europe/London', '2027-10-31T01:00Z', 'back over 01:00-02:00'],
  ['Australia/Sydney', '2027-10-02T16:00Z', 'forward over 02:00-03:00'],
  ['Australia/Sydney', '2027-04-03T16:00Z', 'back over 02:00-03:00'],
  ['Australia/Lord_Howe', '2027-10-02T15:30Z', 'forward over 02:00-02:30'],
  ['Australia/Lord_Howe', '2027-04-03T15:00Z', 'back over 01:30-02:00'],
];

/** Expressions, and the same in the simplest code: which minutes match, and whether the job follows elapsed time. */
const EXPRESSIONS: readonly (readonly [string, (hour: number, minute: number) => boolean, 'elapsed' | 'fixed'])[] = [
  ['* * * * *', () => true, 'elapsed'],
  ['*/20 * * * *', (_, minute) => minute % 20 === 0, 'elapsed'],
  ['0 */2 * * *', (hour, minute) => hour % 2 === 0 && minute === 0, 'elapsed'],
  ['*/10 2 * * *', (hour, minute) => hour === 2 && minute % 10 === 0, 'elapsed'],
  ['* 1-2 * * *', (hour) => hour === 1 || hour === 2, 'elapsed'],
  ['30 1 * * *', (hour, minute) => hour === 1 && minute === 30, 'fixed'],
  ['0 2 * * *', (hour, minute) => hour === 2 && minute === 0, 'fixed'],
  ['30 2,3 * * *', (hour, minute) => (hour === 2 || hour === 3) && minute === 30, 'fixed'],
  ['0 3 * * *', (hour, minute) => hour === 3 && minute === 0, 'fixed'],
  ['0,10,20,40 1-2 * * *', (hour, minute) => (hour === 1 || hour === 2) && [0, 10, 20, 40].includes(minute), 'fixed'],
  ['0-59 0-23 * * *', () => true, 'fixed'],
  ['5/10 0-23/2 * * *', (hour, minute) => hour % 2 === 0 && minute % 10 === 5, 'fixed'],
];

/** What the wall clock of a zone shows at each minute of a window, straight from Intl. */
function wallClock(timeZone: string, from: number, to: number): { at: number; local: number }[] {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const minutes: { at: number; local: number }[] = [];
  for (let at = from; at <= to; at += MINUTE_MS) {
    minutes.push({ at, local: Date.parse(`${format.format(at).replace(' ', 'T')}Z`) });
  }
  return minutes;
}

/** Vixie's rules by walking minute by minute, with all that lies before. */
function walk(
  minutes: { at: number; local: number }[],
  matches: (hour: number, minute: number) => boolean,
  rule: 'elapsed' | 'fixed',
): number[] {
  const isDue = (local: number) => matches(Math.floor(local / HOUR_MS) % 24, (local / MINUTE_MS) % 60);
  let furthest = minutes[0]?.local ?? 0;
  return minutes.slice(1).flatMap(({ at, local }) => {
    if (rule === 'elapsed') return isDue(local) ? [at] : [];
    let fires = false;
    for (; furthest < local; furthest += MINUTE_MS) fires ||= isDue(furthest + MINUTE_MS);
    return fires ? [at] : [];
  });
}

describe.each(SHIFTS)('cron in %s at %s, %s', (timeZone, shift) => {
  const at = Date.parse(shift);
  const minutes = wallClock(timeZone, at - 31 * HOUR_MS, at + 55 * HOUR_MS);

  it.each(EXPRESSIONS)('fires %s as Vixie cron does, from any instant on', (expression, matches, rule) => {
    const schedule = cron(expression, { timeZone });
    const expected = walk(minutes, matches, rule);
    let previous: number | undefined;
    let index = 0;
    const wrong: unknown[] = [];
    const steps = Array.from({ length: 156 }, (_, index) => at - 30 * HOUR_MS + index * (23 * MINUTE_MS - 1_500));
    for (const from of [...steps, at - 1, at].toSorted((a, b) => a - b)) {
      for (let due = expected[index]; due !== undefined && due <= from; due = expected[index]) {
        previous = due;
        index++;
      }
      const next = schedule.next(from);
      if (next !== expected[index]) wrong.push({ from, next, expected: expected[index] });
      const latest = schedule.latest(from);
      if (previous !== undefined && latest !== previous) wrong.push({ from, latest, expected: previous });
    }
    expect(wrong).toEqual([]);
  });
});

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
    [
      'that are repeated come twice if it follows elapsed time',
      '0 * * * *',
      autumn,
      '01:00 -04:00, 01:00 -05:00, 02:00 -05:00',
    ],
    ['that are repeated may be half an hour', '45 1 * * *', autumnByHalfAnHour, '01:45 +11:00'],
    ['on a day that a zone leaves out come when the next begins', '0 6 * * *', leftOut, '00:00 +14:00, 06:00 +14:00'],
  ] as const)('%s: %s', (_rule, expression, [timeZone, from, to], expected) => {
    const schedule = cron(expression, { timeZone });
    const parts = { hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'longOffset' } as const;
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, ...parts });
    const found: string[] = [];
    for (let at = schedule.next(Date.parse(from) - 1); at !== undefined && at <= Date.parse(to); at = schedule.next(at))
      found.push(format.format(at).replace(':00 GMT', ' '));
    expect(found.join(', ')).toBe(expected);
  });
});
