import { describe, expect, it } from '@jest/globals';
import { defaultMisfireGraceMs, heartbeatIntervalFor } from './derived.js';

describe('The heartbeat interval', () => {
  it.each([
    [500, 125],
    [801, 200],
    [8_000, 2_000],
    [12_000, 3_000],
    [60_000, 3_000],
  ])('of a lockExpiry of %d ms is a quarter of it, 3 s at most: %d ms', (lockExpiryMs, intervalMs) => {
    expect(heartbeatIntervalFor(lockExpiryMs)).toBe(intervalMs);
  });
});

describe('The misfire grace', () => {
  it('is the time to stop, two lock expiries and a heartbeat', () => {
    expect(defaultMisfireGraceMs({ shutdownTimeoutMs: 8_000, heartbeatIntervalMs: 3_000 }, 10_000)).toBe(31_000);
  });
});
