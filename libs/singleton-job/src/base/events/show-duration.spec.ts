import { expect, it } from '@jest/globals';
import { showDuration } from '../text/duration.js';

it.each([
  [0, '0 ms'],
  [12.3, '12 ms'],
  [999.4, '999 ms'],
  [999.5, '1.0 s'],
  [3_249, '3.2 s'],
  [90_000, '90.0 s'],
])('a duration of %d ms is shown as %s in log lines', (ms, shown) => {
  expect(showDuration(ms)).toBe(shown);
});
