import { describe, expect, it } from '@jest/globals';

import { interval } from './interval.js';

describe('an interval', () => {
  it('is counted from the end of the run, fractions included', () => {
    expect(interval(1_000).next(12.25)).toBe(1_012.25);
  });

  it('says what it is in one line', () => {
    expect(interval(1_000)).toMatchObject({ kind: 'interval', delayMs: 1_000, description: 'interval 1000ms' });
  });
});
