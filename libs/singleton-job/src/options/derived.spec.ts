import { describe, expect, it } from '@jest/globals';
import { attemptDeadlineMs, defaultMisfireGraceMs, safetyMarginMs } from './derived.js';

describe('of a lock expiry', () => {
  it.each([
    [250, 25],
    [1_000, 100],
    [10_000, 1_000],
  ])('%d ms, a tenth and at least 25 ms is the safety margin: %d ms', (lockExpiryMs, marginMs) => {
    expect(safetyMarginMs(lockExpiryMs)).toBe(marginMs);
  });

  it.each([
    [250, 50],
    [4_000, 800],
    [10_000, 1_000],
    [60_000, 1_000],
  ])('%d ms, a fifth and at most a second is the deadline of an attempt: %d ms', (lockExpiryMs, deadlineMs) => {
    expect(attemptDeadlineMs(lockExpiryMs)).toBe(deadlineMs);
  });

  it('twice as much, the time to stop and a heartbeat are the misfire grace', () => {
    expect(defaultMisfireGraceMs({ shutdownTimeoutMs: 8_000, heartbeatIntervalMs: 3_000 }, 10_000)).toBe(31_000);
  });
});
