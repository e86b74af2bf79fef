import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { fixedRate } from './fixed-rate.js';

describe('a fixed rate', () => {
  it('ticks at multiples of the period since the epoch', () => {
    expect(fixedRate(500).next(Date.UTC(2027, 0, 1, 0, 0, 0, 499))).toBe(Date.UTC(2027, 0, 1, 0, 0, 0, 500));
    expect(fixedRate(7_000).next(0)).toBe(7_000);
  });

  it('moves the whole grid by the offset', () => {
    const schedule = fixedRate(60_000, { offsetMs: 15_000 });
    expect(schedule.next(0)).toBe(15_000);
    expect(schedule.next(15_000)).toBe(75_000);
  });

  it('has its next tick strictly after the instant, and its latest at or before it', () => {
    const schedule = fixedRate(500);
    expect([schedule.latest(999), schedule.latest(1_000), schedule.latest(1_000.5)]).toEqual([500, 1_000, 1_000]);
    expect([schedule.next(999), schedule.next(999.9), schedule.next(1_000)]).toEqual([1_000, 1_000, 1_500]);
  });

  it('continues before the epoch', () => {
    const schedule = fixedRate(1_000, { offsetMs: 100 });
    expect([schedule.latest(0), schedule.next(-900), schedule.next(-901)]).toEqual([-900, 100, -900]);
  });

  it('is exact for any period, offset and instant', () => {
    const cases = fc
      .record({
        periodMs: fc.integer({ min: 1, max: 2 ** 40 }),
        offset: fc.nat(),
        at: fc.integer({ min: -1e13, max: 1e13 }),
      })
      .map(({ periodMs, offset, at }) => ({ periodMs, offsetMs: offset % periodMs, at }));
    fc.assert(
      fc.property(cases, ({ periodMs, offsetMs, at }) => {
        const schedule = fixedRate(periodMs, { offsetMs });
        const latest = schedule.latest(at);
        expect((BigInt(latest) - BigInt(offsetMs)) % BigInt(periodMs)).toBe(0n);
        expect(latest <= at && at < latest + periodMs).toBe(true);
        expect(schedule.next(at)).toBe(latest + periodMs);
      }),
    );
  });

  it('describes itself in one line', () => {
    expect(fixedRate(500).description).toBe('fixed-rate 500ms offset 0ms');
    expect(fixedRate(60_000, { offsetMs: 5 }).description).toBe('fixed-rate 60000ms offset 5ms');
    expect(fixedRate(500)).toMatchObject({ kind: 'fixed-rate', periodMs: 500 });
  });
});
