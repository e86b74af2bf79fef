import { describe, expect, it } from '@jest/globals';

import { interval } from './interval.js';

describe('an interval', () => {
  it('counts from the end of the run, with fractions of a millisecond', () => {
    expect(interval(1_000).next(12.25)).toBe(1_012.25);
  });

  it('describes itself in one line', () => {
    expect(interval(1_000)).toMatchObject({ kind: 'interval', delayMs: 1_000, description: 'interval 1000ms' });
  });
});
