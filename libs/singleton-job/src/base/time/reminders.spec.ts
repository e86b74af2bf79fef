import { expect, it } from '@jest/globals';
import { nextReminderAt } from './reminders.js';

it.each([
  ['a minute after the beginning', 0, 1],
  ['a minute after the beginning, if it was said later', 0.5, 1],
  ['in twice the time after that', 4, 8],
  ['an hour later at the latest', 100, 160],
])('What lasts is said again %s', (_rule, saidAt, nextAt) => {
  const [begin, minute] = [5_000, 60_000];
  expect(nextReminderAt(begin, begin + saidAt * minute)).toBe(begin + nextAt * minute);
});
