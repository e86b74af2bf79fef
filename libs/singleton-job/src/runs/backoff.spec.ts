import { expect, it } from '@jest/globals';
import { backoffMs } from './backoff.js';

it.each([
  ['doubles with each failure after the first', 2_000, [0, 1, 2, 3], [2_000, 2_000, 4_000, 8_000]],
  ['never exceeds 30 s', 2_000, [4, 5, 2_000], [16_000, 30_000, 30_000]],
  ['but begins with more, if it is told so', 60_000, [3], [60_000]],
])('A pause after failures %s', (_, baseMs, failures, pauses) => {
  expect(failures.map((count) => backoffMs(baseMs, count))).toEqual(pauses);
});
