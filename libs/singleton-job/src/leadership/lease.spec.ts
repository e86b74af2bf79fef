import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../testing/index.js';
import { instant } from '../base/time/clock.js';
import { deadlineOf, earlier, isBefore, later } from './lease.js';

describe('The deadline of a lease', () => {
  it('is nine tenths of its life after the request was sent, on both clocks', () => {
    expect(deadlineOf({ now: 500, wall: 1_000_000 }, 10_000)).toEqual({ now: 9_500, wall: 1_009_000 });
  });

  it('passes without any event', async () => {
    const clock = new ManualClock();
    const deadline = deadlineOf(instant(clock), 10_000);
    await clock.advance(8_999);
    expect(isBefore(clock, deadline)).toBe(true);
    await clock.advance(1);
    expect(isBefore(clock, deadline)).toBe(false);
  });

  it('has passed when only the wall clock is past it', () => {
    const clock = new ManualClock();
    const deadline = deadlineOf(instant(clock), 10_000);
    clock.stepWall(8_999);
    expect(isBefore(clock, deadline)).toBe(true);
    clock.stepWall(1);
    expect(isBefore(clock, deadline)).toBe(false);
  });

  it('is the earlier of two on each clock if both must hold', () => {
    expect(earlier({ now: 1, wall: 20 }, { now: 2, wall: 10 })).toEqual({ now: 1, wall: 10 });
  });

  it('is not shortened by the late answer to an older request', () => {
    const [older, newer] = [
      { now: 1, wall: 20 },
      { now: 2, wall: 10 },
    ];
    expect(later(older, newer)).toBe(newer);
    expect(later(newer, older)).toBe(newer);
  });
});
