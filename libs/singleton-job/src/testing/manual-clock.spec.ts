import { describe, expect, it } from '@jest/globals';
import { ManualClock } from './manual-clock.js';

describe('A manual clock', () => {
  it('never goes back, also where a timer blocks for longer than it was to be advanced by', async () => {
    const clock = new ManualClock();
    const start = clock.wallNow();
    clock.setTimer(1_000, () => void clock.block(9_000));
    await clock.advance(2_000);
    expect([clock.now(), clock.wallNow() - start]).toEqual([10_000, 10_000]);
  });
});
