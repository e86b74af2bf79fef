import { expect, it } from '@jest/globals';
import { backoffMs, nextReminderAt } from './backoff.js';

it.each([
  ['doubles with each failure after the first', 2_000, [0, 1, 2, 3], [2_000, 2_000, 4_000, 8_000]],
  ['never exceeds 30 s', 2_000, [4, 5, 2_000], [16_000, 30_000, 30_000]],
  ['but begins with more, if it is told so', 60_000, [3], [60_000]],
])('A pause after failures %s', (_, baseMs, failures, pauses) => {
  expect(failures.map((count) => backoffMs(baseMs, count))).toEqual(pauses);
});

it.each([
  ['a minute after the beginning', 0, 1],
  ['a minute after the beginning, if it was said later', 0.5, 1],
  ['in twice the time after that', 4, 8],
  ['an hour later at the latest', 100, 160],
])('What lasts is said again %s', (_rule, saidAt, nextAt) => {
  const [begin, minute] = [5_000, 60_000];
  expect(nextReminderAt(begin, begin + saidAt * minute)).toBe(begin + nextAt * minute);
});
