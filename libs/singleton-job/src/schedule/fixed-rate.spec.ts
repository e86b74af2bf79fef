import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { fixedRate } from './fixed-rate.js';

describe('a fixed rate', () => {
  it('ticks at multiples of the period since the epoch, and an offset', () => {
    expect([fixedRate(7_000).next(0), fixedRate(60_000, 15_000).next(15_000)]).toEqual([7_000, 75_000]);
  });

  it('has its next tick strictly after the instant, and its latest at or before it', () => {
    const schedule = fixedRate(500);
    expect([schedule.latest(999), schedule.latest(1_000), schedule.latest(1_000.5)]).toEqual([500, 1_000, 1_000]);
    expect([schedule.next(999), schedule.next(999.9), schedule.next(1_000)]).toEqual([1_000, 1_000, 1_500]);
  });

  it('is exact for any period, offset and instant', () => {
    const [periods, instants] = [fc.integer({ min: 1, max: 2 ** 40 }), fc.integer({ min: -1e13, max: 1e13 })];
    fc.assert(
      fc.property(periods, fc.nat(), instants, (periodMs, offset, at) => {
        const offsetMs = offset % periodMs;
        const schedule = fixedRate(periodMs, offsetMs);
        const latest = schedule.latest(at);
        expect((BigInt(latest) - BigInt(offsetMs)) % BigInt(periodMs)).toBe(0n);
        expect(latest <= at && at < latest + periodMs).toBe(true);
        expect(schedule.next(at)).toBe(latest + periodMs);
      }),
    );
  });

  it('describes itself in one line', () => {
    const description = 'fixed-rate 60000ms offset 5ms';
    expect(fixedRate(60_000, 5)).toMatchObject({ kind: 'fixed-rate', periodMs: 60_000, description });
  });
});
