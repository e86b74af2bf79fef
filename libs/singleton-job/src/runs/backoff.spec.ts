import { describe, expect, it } from '@jest/globals';
import { backoffMs } from './backoff.js';

describe('backoff', () => {
  it('doubles with each failure after the first', () => {
    expect([0, 1, 2, 3].map((failures) => backoffMs(2_000, failures))).toEqual([2_000, 2_000, 4_000, 8_000]);
  });

  it('never exceeds 30 s, unless it begins with more', () => {
    expect(backoffMs(2_000, 2_000)).toBe(30_000);
    expect(backoffMs(60_000, 3)).toBe(60_000);
  });
});
